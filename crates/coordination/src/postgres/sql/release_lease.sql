-- ReleaseLease: leases of attempts without authority are given back. Atomic: the batch, decided row by row.
-- Takes: pool, epoch believed, now; rows (≤ 64): jobs, attempts.
-- Writes lease, gone and unaccounted (in the grace), pool.
-- Rows: worker, token | lease_live (worker, token).
CREATE OR REPLACE FUNCTION {schema}.release_lease(
  pool_name text, believed bigint, clock_ms bigint, jobs uuid[], attempts uuid[])
RETURNS SETOF {schema}.step LANGUAGE plpgsql AS $$
DECLARE
  here {schema}.pool := {schema}.arrive(pool_name, believed, clock_ms);
  step {schema}.step;
  live {schema}.lease;
BEGIN
  IF here.epoch = believed AND believed > 0 THEN
    FOR i IN 1 .. cardinality(jobs) LOOP
      step := NULL;
      live := NULL;
      here.revision := here.revision + 1;
      SELECT l.* INTO live FROM {schema}.lease l WHERE l.pool = here.number AND l.attempt = attempts[i];
      IF live.job = jobs[i] THEN
        PERFORM {schema}.end_stay(here, attempts[i], false);
        DELETE FROM {schema}.lease l WHERE l.pool = here.number AND l.attempt = attempts[i];
        step.in_use := {schema}.in_use(here.number);
      ELSE
        step.guard := 'lease_live';
      END IF;
      step.recorded := true;
      step.revision := here.revision;
      step.worker := live.worker;
      step.token := live.token;
      RETURN NEXT step;
    END LOOP;
  END IF;
  RETURN NEXT {schema}.leave(here, believed);
END
$$;
