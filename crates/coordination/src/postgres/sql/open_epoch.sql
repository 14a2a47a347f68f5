-- open_epoch: Reserve is served from now on. Atomic: the whole.
-- Takes: pool, epoch believed, now.
-- Writes pool.
-- Rows, one: flag (it opened just now).
CREATE OR REPLACE FUNCTION {schema}.open_epoch(pool_name text, believed bigint, clock_ms bigint)
RETURNS SETOF {schema}.step LANGUAGE plpgsql AS $$
DECLARE
  here {schema}.pool := {schema}.arrive(pool_name, believed, clock_ms);
  step {schema}.step;
BEGIN
  IF here.epoch = believed AND believed > 0 THEN
    step.flag := NOT here.open;
    IF step.flag THEN
      here.revision := here.revision + 1;
      here.open := true;
    END IF;
    step.recorded := false;
    step.revision := here.revision;
    RETURN NEXT step;
  END IF;
  RETURN NEXT {schema}.leave(here, believed);
END
$$;
