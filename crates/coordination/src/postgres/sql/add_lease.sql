-- add_lease: the attempt executes under a live lease, and is the one whose progress is shown.
-- Takes: the pool's row, job, attempt, token, worker. Writes lease, unaccounted.
CREATE OR REPLACE FUNCTION {schema}.add_lease(
  here {schema}.pool, of_job uuid, of_attempt uuid, of_token bigint, of_worker uuid)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE {schema}.lease l SET shown = false, said = NULL
  WHERE l.pool = here.number AND l.job = of_job AND l.shown;
  INSERT INTO {schema}.lease (pool, attempt, job, token, worker, born, renewed_ms, deadline_ms)
  VALUES (here.number, of_attempt, of_job, of_token, of_worker, here.revision, here.now_ms, here.now_ms + here.lease_ms);
  IF here.in_grace THEN
    DELETE FROM {schema}.unaccounted u WHERE u.pool = here.number AND u.attempt = of_attempt;
  END IF;
END
$$;
