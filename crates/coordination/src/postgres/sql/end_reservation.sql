-- end_reservation: a place is given up, and how is remembered: of the last 8,192 of a pool at least.
-- Takes: the reservation, how ('handed_back', 'released', 'other'), how many had ended before. Writes reservation, ended.
-- Answers: how many have ended now.
CREATE OR REPLACE FUNCTION {schema}.end_reservation(held {schema}.reservation, how text, before bigint)
RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM {schema}.reservation r WHERE r.pool = held.pool AND r.id = held.id;
  INSERT INTO {schema}.ended (pool, id, number, job, worker, how)
  VALUES (held.pool, held.id, before + 1, held.job, held.worker, how);
  IF (before + 1) % 64 = 0 THEN
    DELETE FROM {schema}.ended e WHERE e.pool = held.pool AND e.number <= before + 1 - 8192;
  END IF;
  RETURN before + 1;
END
$$;
