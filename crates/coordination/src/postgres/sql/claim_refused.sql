-- ClaimRefused: workers hand reservations back. Atomic: the batch, decided row by row.
-- Takes: pool, epoch believed, now; rows (≤ 64): jobs, ids (of the reservations), workers.
-- Writes reservation, ended, pool.
-- Rows: nothing more | reservation_held.
CREATE OR REPLACE FUNCTION {schema}.claim_refused(
  pool_name text, believed bigint, clock_ms bigint, jobs uuid[], ids uuid[], workers uuid[])
RETURNS SETOF {schema}.step LANGUAGE plpgsql AS $$
DECLARE
  here {schema}.pool := {schema}.arrive(pool_name, believed, clock_ms);
  step {schema}.step;
  held {schema}.reservation;
BEGIN
  IF here.epoch = believed AND believed > 0 THEN
    FOR i IN 1 .. cardinality(jobs) LOOP
      step := NULL;
      SELECT r.* INTO held FROM {schema}.reservation r
      WHERE r.pool = here.number AND r.id = ids[i] AND r.job = jobs[i] AND r.worker = workers[i];
      IF FOUND THEN
        here.ended := {schema}.end_reservation(held, 'handed_back', here.ended);
        step.in_use := {schema}.in_use(here.number);
        step.recorded := true;
      ELSIF EXISTS (
        SELECT FROM {schema}.ended e
        WHERE e.pool = here.number AND e.id = ids[i] AND e.job = jobs[i] AND e.worker = workers[i]
          AND e.how = 'handed_back') THEN
        step.recorded := false;
      ELSE
        step.guard := 'reservation_held';
        step.recorded := true;
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
