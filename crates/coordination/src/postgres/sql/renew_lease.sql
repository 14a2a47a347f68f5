-- RenewLease: leases are young again, and their holders learn of cancels. Atomic: the batch, decided row by row.
-- Takes: pool, epoch believed, now; rows (≤ 64): jobs, attempts, workers.
-- Writes lease, pool. The first renewal of a lease is recorded, later ones are merged into it.
-- Rows: flag (a notice stands), token | lease_live (token).
CREATE OR REPLACE FUNCTION {schema}.renew_lease(
  pool_name text, believed bigint, clock_ms bigint, jobs uuid[], attempts uuid[], workers uuid[])
RETURNS SETOF {schema}.step LANGUAGE plpgsql AS $$
DECLARE
  here {schema}.pool := {schema}.arrive(pool_name, believed, clock_ms);
  step {schema}.step;
  live {schema}.lease;
BEGIN
  IF here.epoch = believed AND believed > 0 THEN
    FOR i IN 1 .. cardinality(jobs) LOOP
      step := NULL;
      step.recorded := true;
      live := NULL;
      SELECT l.* INTO live FROM {schema}.lease l WHERE l.pool = here.number AND l.attempt = attempts[i];
      step.token := live.token;
      IF live.job = jobs[i] AND live.worker = workers[i] THEN
        UPDATE {schema}.lease l
        SET renewed_ms = here.now_ms, deadline_ms = here.now_ms + here.lease_ms, renewal_recorded = true
        WHERE l.pool = here.number AND l.attempt = attempts[i];
        step.flag := EXISTS (SELECT FROM {schema}.notice n WHERE n.pool = here.number AND n.job = jobs[i]);
        step.recorded := NOT live.renewal_recorded;
        IF step.recorded THEN
          step.in_use := {schema}.in_use(here.number);
        END IF;
      ELSE
        step.guard := 'lease_live';
      END IF;
      IF step.recorded THEN
        here.revision := here.revision + 1;
      END IF;
      step.revision := here.revision;
      RETURN NEXT step;
    END LOOP;
  END IF;
  RETURN NEXT {schema}.leave(here, believed);
END
$$;
