-- drop_entry: a job's entry leaves its window, and the window goes with its last entry.
-- Takes: the pool's number, the job. Writes entry, queue_window. Answers: whether there was one.
CREATE OR REPLACE FUNCTION {schema}.drop_entry(pool_number integer, of_job uuid) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  of_window integer;
  left_over integer;
BEGIN
  DELETE FROM {schema}.entry e WHERE e.pool = pool_number AND e.job = of_job RETURNING e.window_number INTO of_window;
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  UPDATE {schema}.queue_window q SET entries = q.entries - 1
  WHERE q.pool = pool_number AND q.number = of_window RETURNING q.entries INTO left_over;
  IF left_over <= 0 THEN
    DELETE FROM {schema}.queue_window q WHERE q.pool = pool_number AND q.number = of_window;
  END IF;
  RETURN true;
END
$$;
