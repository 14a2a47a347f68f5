-- RestoreLease: after a loss, workers that still execute put their leases back, inside the grace. Atomic: the batch,
-- decided row by row.
-- Takes: pool, epoch believed, now; rows (≤ 64): jobs, attempts, tokens, workers.
-- Writes lease, unaccounted, pool.
-- Rows: nothing more | lease_live | grace_over | lease_ended_by_age | authority | global_limit.
CREATE OR REPLACE FUNCTION {schema}.restore_lease(
  pool_name text, believed bigint, clock_ms bigint, jobs uuid[], attempts uuid[], tokens bigint[], workers uuid[])
RETURNS SETOF {schema}.step LANGUAGE plpgsql AS $$
DECLARE
  here {schema}.pool := {schema}.arrive(pool_name, believed, clock_ms);
  step {schema}.step;
  live {schema}.lease;
  seen {schema}.gone;
BEGIN
  IF here.epoch = believed AND believed > 0 THEN
    FOR i IN 1 .. cardinality(jobs) LOOP
      step := NULL;
      step.recorded := true;
      live := NULL;
      seen := NULL;
      SELECT l.* INTO live FROM {schema}.lease l WHERE l.pool = here.number AND l.attempt = attempts[i];
      SELECT g.* INTO seen FROM {schema}.gone g WHERE g.pool = here.number AND g.attempt = attempts[i];
      IF live.job = jobs[i] AND live.worker = workers[i] THEN
        PERFORM {schema}.renew(here, attempts[i]);
        step.recorded := false;
      ELSIF live.attempt IS NOT NULL THEN
        step.guard := 'lease_live';
      ELSIF NOT here.in_grace THEN
        step.guard := 'grace_over';
      ELSIF seen.by_age THEN
        step.guard := 'lease_ended_by_age';
      ELSIF seen.attempt IS NOT NULL THEN
        step.guard := 'authority';
      ELSIF {schema}.in_use(here.number) >= here.global_limit AND NOT EXISTS (
        SELECT FROM {schema}.unaccounted u WHERE u.pool = here.number AND u.attempt = attempts[i]) THEN
        step.guard := 'global_limit';
      END IF;
      IF step.recorded THEN
        here.revision := here.revision + 1;
        IF step.guard IS NULL THEN
          PERFORM {schema}.add_lease(here, jobs[i], attempts[i], tokens[i], workers[i]);
          step.in_use := {schema}.in_use(here.number);
        END IF;
      END IF;
      step.revision := here.revision;
      RETURN NEXT step;
    END LOOP;
  END IF;
  RETURN NEXT {schema}.leave(here, believed);
END
$$;
