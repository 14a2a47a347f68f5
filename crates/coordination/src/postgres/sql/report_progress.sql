-- ReportProgress: what jobs say of themselves is shown, under a live lease. Display only. Atomic: the batch, decided row by
-- row.
-- Takes: pool, epoch believed, now; rows (≤ 64): jobs, attempts, workers, what each says (opaque).
-- Writes lease, pool.
-- Rows: token | lease_live (token) | progress_changed (token).
CREATE OR REPLACE FUNCTION {schema}.report_progress(
  pool_name text, believed bigint, clock_ms bigint, jobs uuid[], attempts uuid[], workers uuid[], says text[])
RETURNS SETOF {schema}.step LANGUAGE plpgsql AS $$
DECLARE
  here {schema}.pool := {schema}.arrive(pool_name, believed, clock_ms);
  step {schema}.step;
  live {schema}.lease;
  used bigint;
BEGIN
  IF here.epoch = believed AND believed > 0 THEN
    used := {schema}.in_use(here.number);
    FOR i IN 1 .. cardinality(jobs) LOOP
      step := NULL;
      live := NULL;
      here.revision := here.revision + 1;
      SELECT l.* INTO live FROM {schema}.lease l WHERE l.pool = here.number AND l.attempt = attempts[i];
      IF live.attempt IS NULL OR live.job <> jobs[i] OR live.worker <> workers[i] THEN
        step.guard := 'lease_live';
      ELSIF live.shown AND live.said = says[i] THEN
        step.guard := 'progress_changed';
      ELSE
        IF NOT live.shown THEN
          UPDATE {schema}.lease l SET shown = false, said = NULL
          WHERE l.pool = here.number AND l.job = jobs[i] AND l.shown;
        END IF;
        UPDATE {schema}.lease l SET shown = true, said = says[i]
        WHERE l.pool = here.number AND l.attempt = attempts[i];
        step.in_use := used;
      END IF;
      step.recorded := true;
      step.revision := here.revision;
      step.token := live.token;
      RETURN NEXT step;
    END LOOP;
  END IF;
  RETURN NEXT {schema}.leave(here, believed);
END
$$;
