-- PublishCancelNotice: workers are told of cancels, at their next renewal at the latest. Atomic: the batch, decided row by
-- row.
-- Takes: pool, epoch believed, now; rows (≤ 64): jobs.
-- Writes notice, pool.
-- Rows: nothing more | not_noticed.
CREATE OR REPLACE FUNCTION {schema}.publish_cancel_notice(
  pool_name text, believed bigint, clock_ms bigint, jobs uuid[])
RETURNS SETOF {schema}.step LANGUAGE plpgsql AS $$
DECLARE
  here {schema}.pool := {schema}.arrive(pool_name, believed, clock_ms);
  step {schema}.step;
  used bigint;
BEGIN
  IF here.epoch = believed AND believed > 0 THEN
    used := {schema}.in_use(here.number);
    FOR i IN 1 .. cardinality(jobs) LOOP
      step := NULL;
      here.revision := here.revision + 1;
      INSERT INTO {schema}.notice (pool, job) VALUES (here.number, jobs[i]) ON CONFLICT (pool, job) DO NOTHING;
      IF FOUND THEN
        step.in_use := used;
      ELSE
        step.guard := 'not_noticed';
      END IF;
      step.recorded := true;
      step.revision := here.revision;
      RETURN NEXT step;
    END LOOP;
  END IF;
  RETURN NEXT {schema}.leave(here, believed);
END
$$;
