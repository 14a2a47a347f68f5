-- ExpireLease: leases past their length end, the oldest first. Atomic: the whole.
-- Takes: pool, epoch believed, now; at most so many (≤ 64).
-- Writes lease, gone and unaccounted (in the grace), pool.
-- Rows: job, attempt, worker, token.
CREATE OR REPLACE FUNCTION {schema}.expire_lease(pool_name text, believed bigint, clock_ms bigint, most integer)
RETURNS SETOF {schema}.step LANGUAGE plpgsql AS $$
DECLARE
  here {schema}.pool := {schema}.arrive(pool_name, believed, clock_ms);
  step {schema}.step;
  past {schema}.lease;
BEGIN
  IF here.epoch = believed AND believed > 0 THEN
    FOR past IN
      SELECT l.* FROM {schema}.lease l WHERE l.pool = here.number AND l.deadline_ms <= here.now_ms
      ORDER BY l.deadline_ms, l.attempt LIMIT most
    LOOP
      step := NULL;
      here.revision := here.revision + 1;
      PERFORM {schema}.end_stay(here, past.attempt, true);
      DELETE FROM {schema}.lease l WHERE l.pool = here.number AND l.attempt = past.attempt;
      step.recorded := true;
      step.revision := here.revision;
      step.in_use := {schema}.in_use(here.number);
      step.job := past.job;
      step.attempt := past.attempt;
      step.worker := past.worker;
      step.token := past.token;
      RETURN NEXT step;
    END LOOP;
  END IF;
  RETURN NEXT {schema}.leave(here, believed);
END
$$;
