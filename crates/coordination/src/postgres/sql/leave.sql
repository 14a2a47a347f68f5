-- leave: writes what the pool's row has become, and answers the head. Every function ends with it.
-- Takes: the row as the function leaves it, the epoch believed. Writes pool, unless nothing happened in a current one:
-- a look in vain leaves no dead row behind, but for one that keeps the clock.
-- Answers: the head.
CREATE OR REPLACE FUNCTION {schema}.leave(here {schema}.pool, believed bigint)
RETURNS {schema}.step LANGUAGE plpgsql AS $$
DECLARE
  head {schema}.step;
BEGIN
  IF here.epoch = believed AND believed > 0 THEN
    UPDATE {schema}.pool p
    SET revision = here.revision, now_ms = here.now_ms, open = here.open, in_grace = here.in_grace,
      config_revision = here.config_revision, global_limit = here.global_limit, lease_ms = here.lease_ms,
      paused = here.paused, ended = here.ended, last_window = here.last_window
    WHERE p.name = here.name
      AND (p.revision <> here.revision OR p.in_grace <> here.in_grace OR here.now_ms - p.now_ms >= 100);
  END IF;
  head.epoch := here.epoch;
  head.revision := here.revision;
  head.lease_ms := here.lease_ms;
  head.global_limit := here.global_limit;
  head.freed := here.freed;
  RETURN head;
END
$$;
