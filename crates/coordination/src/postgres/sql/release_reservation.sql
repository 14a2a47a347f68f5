-- ReleaseReservation: places that nobody will use are taken back; only the exact reservation judged. Atomic: the batch,
-- decided row by row.
-- Takes: pool, epoch believed, now; rows (≤ 64): jobs, ids (of the reservations).
-- Writes reservation, ended, pool.
-- Rows: worker | reservation_held (worker).
CREATE OR REPLACE FUNCTION {schema}.release_reservation(
  pool_name text, believed bigint, clock_ms bigint, jobs uuid[], ids uuid[])
RETURNS SETOF {schema}.step LANGUAGE plpgsql AS $$
DECLARE
  here {schema}.pool := {schema}.arrive(pool_name, believed, clock_ms);
  step {schema}.step;
  held {schema}.reservation;
BEGIN
  IF here.epoch = believed AND believed > 0 THEN
    FOR i IN 1 .. cardinality(jobs) LOOP
      step := NULL;
      step.recorded := true;
      held := NULL;
      SELECT r.* INTO held FROM {schema}.reservation r WHERE r.pool = here.number AND r.id = ids[i];
      step.worker := held.worker;
      IF held.job = jobs[i] THEN
        here.ended := {schema}.end_reservation(held, 'released', here.ended);
        step.in_use := {schema}.in_use(here.number);
      ELSIF held.id IS NULL AND EXISTS (
        SELECT FROM {schema}.ended e
        WHERE e.pool = here.number AND e.id = ids[i] AND e.job = jobs[i] AND e.how = 'released') THEN
        step.recorded := false;
      ELSE
        step.guard := 'reservation_held';
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
