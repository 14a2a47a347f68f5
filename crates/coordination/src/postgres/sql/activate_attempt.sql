-- ActivateAttempt: the exact reservation becomes the lease of the attempt. Atomic: the batch, decided row by row.
-- Takes: pool, epoch believed, now; rows (≤ 64): jobs, attempts, tokens, ids (of the reservations), workers.
-- Writes reservation, ended, lease, unaccounted, pool.
-- Rows: nothing more | reservation_held.
CREATE OR REPLACE FUNCTION {schema}.activate_attempt(
  pool_name text, believed bigint, clock_ms bigint, jobs uuid[], attempts uuid[], tokens bigint[], ids uuid[],
  workers uuid[])
RETURNS SETOF {schema}.step LANGUAGE plpgsql AS $$
DECLARE
  here {schema}.pool := {schema}.arrive(pool_name, believed, clock_ms);
  step {schema}.step;
  live {schema}.lease;
  held {schema}.reservation;
BEGIN
  IF here.epoch = believed AND believed > 0 THEN
    FOR i IN 1 .. cardinality(jobs) LOOP
      step := NULL;
      step.recorded := true;
      held := NULL;
      SELECT l.* INTO live FROM {schema}.lease l WHERE l.pool = here.number AND l.attempt = attempts[i];
      IF FOUND AND live.job = jobs[i] AND live.worker = workers[i] THEN
        PERFORM {schema}.renew(here, attempts[i]);
        step.recorded := false;
      ELSE
        IF NOT FOUND THEN
          SELECT r.* INTO held FROM {schema}.reservation r
          WHERE r.pool = here.number AND r.id = ids[i] AND r.job = jobs[i] AND r.worker = workers[i];
        END IF;
        here.revision := here.revision + 1;
        IF held.id IS NULL THEN
          step.guard := 'reservation_held';
        ELSE
          here.ended := {schema}.end_reservation(held, 'other', here.ended);
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
