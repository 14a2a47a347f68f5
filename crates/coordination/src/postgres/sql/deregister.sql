-- deregister: a worker that ends is forgotten. Atomic: the whole.
-- Takes: pool, epoch believed, now; the worker.
-- Writes worker, pool.
-- Rows, one: flag (it was known).
CREATE OR REPLACE FUNCTION {schema}.deregister(pool_name text, believed bigint, clock_ms bigint, of_worker uuid)
RETURNS SETOF {schema}.step LANGUAGE plpgsql AS $$
DECLARE
  here {schema}.pool := {schema}.arrive(pool_name, believed, clock_ms);
  step {schema}.step;
  seen bigint;
BEGIN
  IF here.epoch = believed AND believed > 0 THEN
    DELETE FROM {schema}.worker w WHERE w.pool = here.number AND w.id = of_worker RETURNING w.seen_ms INTO seen;
    step.flag := coalesce(seen >= here.now_ms - 2 * here.lease_ms, false);
    step.recorded := false;
    step.revision := here.revision;
    RETURN NEXT step;
  END IF;
  RETURN NEXT {schema}.leave(here, believed);
END
$$;
