-- settle: attempts ended, so they leave the set of those unaccounted for. No action of the spec. Atomic: the batch.
-- Takes: pool, epoch believed, now; rows (≤ 64): attempts.
-- Writes gone and unaccounted (in the grace), pool.
-- Rows: flag (a place became free).
CREATE OR REPLACE FUNCTION {schema}.settle(pool_name text, believed bigint, clock_ms bigint, attempts uuid[])
RETURNS SETOF {schema}.step LANGUAGE plpgsql AS $$
DECLARE
  here {schema}.pool := {schema}.arrive(pool_name, believed, clock_ms);
  step {schema}.step;
BEGIN
  IF here.epoch = believed AND believed > 0 THEN
    FOR i IN 1 .. cardinality(attempts) LOOP
      step := NULL;
      here.revision := here.revision + 1;
      step.flag := {schema}.end_stay(here, attempts[i], false);
      step.recorded := true;
      step.revision := here.revision;
      RETURN NEXT step;
    END LOOP;
  END IF;
  RETURN NEXT {schema}.leave(here, believed);
END
$$;
