-- FalseSuspicion: reservations past their deadline end, the oldest first, though their workers may live. Atomic: the whole.
-- Takes: pool, epoch believed, now; at most so many (≤ 64).
-- Writes reservation, ended, pool.
-- Rows: job, reservation, worker.
CREATE OR REPLACE FUNCTION {schema}.false_suspicion(pool_name text, believed bigint, clock_ms bigint, most integer)
RETURNS SETOF {schema}.step LANGUAGE plpgsql AS $$
DECLARE
  here {schema}.pool := {schema}.arrive(pool_name, believed, clock_ms);
  step {schema}.step;
  past {schema}.reservation;
BEGIN
  IF here.epoch = believed AND believed > 0 THEN
    FOR past IN
      SELECT r.* FROM {schema}.reservation r WHERE r.pool = here.number AND r.deadline_ms <= here.now_ms
      ORDER BY r.deadline_ms, r.id LIMIT most
    LOOP
      step := NULL;
      here.revision := here.revision + 1;
      here.ended := {schema}.end_reservation(past, 'other', here.ended);
      step.recorded := true;
      step.revision := here.revision;
      step.in_use := {schema}.in_use(here.number);
      step.job := past.job;
      step.reservation := past.id;
      step.worker := past.worker;
      RETURN NEXT step;
    END LOOP;
  END IF;
  RETURN NEXT {schema}.leave(here, believed);
END
$$;
