-- configure: limits, pauses and lease length come into force; an older revision changes nothing. Atomic: the whole.
-- Takes: pool, epoch believed, now; revision, global limit, lease length in ms, paused queues.
-- Writes pool; takes silent workers, whom a longer lease must not bring back.
-- Rows, one: flag (it came into force).
CREATE OR REPLACE FUNCTION {schema}.configure(
  pool_name text, believed bigint, clock_ms bigint, to_revision bigint, to_limit bigint, to_lease_ms bigint,
  to_paused text[])
RETURNS SETOF {schema}.step LANGUAGE plpgsql AS $$
DECLARE
  here {schema}.pool := {schema}.arrive(pool_name, believed, clock_ms);
  step {schema}.step;
BEGIN
  IF here.epoch = believed AND believed > 0 THEN
    step.flag := to_revision > here.config_revision;
    IF step.flag THEN
      DELETE FROM {schema}.worker w WHERE w.pool = here.number AND w.seen_ms < here.now_ms - 2 * here.lease_ms;
      here.revision := here.revision + 1;
      here.config_revision := to_revision;
      here.global_limit := to_limit;
      here.lease_ms := to_lease_ms;
      here.paused := to_paused;
    END IF;
    step.recorded := false;
    step.revision := here.revision;
    RETURN NEXT step;
  END IF;
  RETURN NEXT {schema}.leave(here, believed);
END
$$;
