-- renew_reservation: workers say that they still mean to use their places. No action of the spec. Atomic: the batch,
-- decided row by row.
-- Takes: pool, epoch believed, now; rows (≤ 64): jobs, ids (of the reservations), workers.
-- Writes reservation, pool.
-- Rows, none of them recorded: nothing more | reservation_held.
CREATE OR REPLACE FUNCTION {schema}.renew_reservation(
  pool_name text, believed bigint, clock_ms bigint, jobs uuid[], ids uuid[], workers uuid[])
RETURNS SETOF {schema}.step LANGUAGE plpgsql AS $$
DECLARE
  here {schema}.pool := {schema}.arrive(pool_name, believed, clock_ms);
  step {schema}.step;
BEGIN
  IF here.epoch = believed AND believed > 0 THEN
    FOR i IN 1 .. cardinality(jobs) LOOP
      step := NULL;
      step.recorded := false;
      step.revision := here.revision;
      UPDATE {schema}.reservation r SET deadline_ms = here.now_ms + here.lease_ms
      WHERE r.pool = here.number AND r.id = ids[i] AND r.job = jobs[i] AND r.worker = workers[i];
      IF NOT FOUND THEN
        step.guard := 'reservation_held';
      END IF;
      RETURN NEXT step;
    END LOOP;
  END IF;
  RETURN NEXT {schema}.leave(here, believed);
END
$$;
