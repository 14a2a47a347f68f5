-- arrive: locks the pool's row and reads its moment. Every function begins with it, so the decisions of a pool are serial,
-- and what comes after it sees all that was decided before.
-- Takes: the pool's name, the epoch believed, now in ms (null: the server's clock).
-- Answers: the pool's row, whose epoch is 0 when the store is empty. Another epoch than the one believed is `stale`: its
-- caller does nothing then. Time never goes back; a step backward by more than a lease length empties the pool. Passing
-- time ends the grace.
CREATE OR REPLACE FUNCTION {schema}.arrive(pool_name text, believed bigint, clock_ms bigint)
RETURNS {schema}.pool LANGUAGE plpgsql AS $$
DECLARE
  here   {schema}.pool;
  moment bigint;
BEGIN
  SELECT p.* INTO here FROM {schema}.pool p WHERE p.name = pool_name AND p.home = p.tableoid FOR UPDATE;
  IF NOT FOUND THEN
    here.epoch := 0;
    RETURN here;
  ELSIF here.epoch <> believed THEN
    RETURN here;
  END IF;
  moment := coalesce(clock_ms, (date_part('epoch', clock_timestamp()) * 1000)::bigint);
  IF moment + here.lease_ms < here.now_ms THEN
    PERFORM {schema}.forget(here.number);
    DELETE FROM {schema}.pool p WHERE p.name = pool_name;
    here.epoch := 0;
    RETURN here;
  END IF;
  here.now_ms := greatest(moment, here.now_ms);
  IF here.in_grace AND here.now_ms - here.began_ms >= here.lease_ms THEN
    here.in_grace := false;
    DELETE FROM {schema}.unaccounted u WHERE u.pool = here.number;
    here.freed := FOUND;
    DELETE FROM {schema}.gone g WHERE g.pool = here.number;
  END IF;
  RETURN here;
END
$$;
