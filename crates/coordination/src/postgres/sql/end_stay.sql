-- end_stay: an attempt's stay in this epoch is over. Takes: the pool's row, the attempt, whether by age.
-- Writes (in the grace) gone, unaccounted. Answers: whether a place of the set became free.
CREATE OR REPLACE FUNCTION {schema}.end_stay(here {schema}.pool, ended_attempt uuid, ended_by_age boolean)
RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  IF NOT here.in_grace THEN
    RETURN false;
  END IF;
  INSERT INTO {schema}.gone (pool, attempt, by_age) VALUES (here.number, ended_attempt, ended_by_age)
  ON CONFLICT (pool, attempt) DO NOTHING;
  DELETE FROM {schema}.unaccounted u WHERE u.pool = here.number AND u.attempt = ended_attempt;
  RETURN FOUND;
END
$$;
