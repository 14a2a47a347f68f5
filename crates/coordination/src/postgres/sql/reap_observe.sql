-- ReapObserve: attempts seen to have neither a live lease nor a reservation of their own worker. Atomic: the batch, decided
-- row by row.
-- Takes: pool, epoch believed, now; rows (≤ 64): jobs, attempts, workers, epochs of the claims, whether its own worker asks.
-- Writes pool.
-- Rows: nothing more | opening | grace | lease_not_live | reservation_not_held.
CREATE OR REPLACE FUNCTION {schema}.reap_observe(
  pool_name text, believed bigint, clock_ms bigint, jobs uuid[], attempts uuid[], workers uuid[],
  claimed_epochs bigint[], by_holders boolean[])
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
      IF NOT here.open THEN
        step.guard := 'opening';
      ELSIF claimed_epochs[i] <> here.epoch AND NOT by_holders[i] AND here.in_grace THEN
        step.guard := 'grace';
      ELSIF EXISTS (SELECT FROM {schema}.lease l WHERE l.pool = here.number AND l.attempt = attempts[i]) THEN
        step.guard := 'lease_not_live';
      ELSIF EXISTS (
        SELECT FROM {schema}.reservation r
        WHERE r.pool = here.number AND r.job = jobs[i] AND r.worker = workers[i]) THEN
        step.guard := 'reservation_not_held';
      ELSE
        step.in_use := used;
      END IF;
      step.recorded := true;
      step.revision := here.revision;
      RETURN NEXT step;
    END LOOP;
  END IF;
  RETURN NEXT {schema}.leave(here, believed);
END
$$;
