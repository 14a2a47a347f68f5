-- request_drain: a worker is asked to drain, which its next registration is answered. Atomic: the whole.
-- Takes: pool, epoch believed, now; the worker.
-- Writes worker, pool.
-- Rows, one: flag (it is known).
CREATE OR REPLACE FUNCTION {schema}.request_drain(pool_name text, believed bigint, clock_ms bigint, of_worker uuid)
RETURNS SETOF {schema}.step LANGUAGE plpgsql AS $$
DECLARE
  here {schema}.pool := {schema}.arrive(pool_name, believed, clock_ms);
  step {schema}.step;
BEGIN
  IF here.epoch = believed AND believed > 0 THEN
    UPDATE {schema}.worker w SET asked_to_drain = true
    WHERE w.pool = here.number AND w.id = of_worker AND w.seen_ms >= here.now_ms - 2 * here.lease_ms;
    step.flag := FOUND;
    step.recorded := false;
    step.revision := here.revision;
    RETURN NEXT step;
  END IF;
  RETURN NEXT {schema}.leave(here, believed);
END
$$;
