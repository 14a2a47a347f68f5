-- CleanTerminalCoordination: entry, reservation, notice and progress of terminal jobs go; a lease stays. Atomic: the batch,
-- decided row by row.
-- Takes: pool, epoch believed, now; rows (≤ 64): jobs.
-- Writes entry, queue_window, reservation, ended, notice, lease, pool.
-- Rows: reservation (where there was one) | something_to_clean.
CREATE OR REPLACE FUNCTION {schema}.clean_terminal_coordination(
  pool_name text, believed bigint, clock_ms bigint, jobs uuid[])
RETURNS SETOF {schema}.step LANGUAGE plpgsql AS $$
DECLARE
  here    {schema}.pool := {schema}.arrive(pool_name, believed, clock_ms);
  step    {schema}.step;
  held    {schema}.reservation;
  cleaned boolean;
BEGIN
  IF here.epoch = believed AND believed > 0 THEN
    FOR i IN 1 .. cardinality(jobs) LOOP
      step := NULL;
      held := NULL;
      here.revision := here.revision + 1;
      cleaned := {schema}.drop_entry(here.number, jobs[i]);
      SELECT r.* INTO held FROM {schema}.reservation r WHERE r.pool = here.number AND r.job = jobs[i];
      IF FOUND THEN
        here.ended := {schema}.end_reservation(held, 'other', here.ended);
        cleaned := true;
      END IF;
      DELETE FROM {schema}.notice n WHERE n.pool = here.number AND n.job = jobs[i];
      cleaned := cleaned OR FOUND;
      UPDATE {schema}.lease l SET shown = false, said = NULL
      WHERE l.pool = here.number AND l.job = jobs[i] AND l.shown;
      cleaned := cleaned OR FOUND;
      IF cleaned THEN
        step.in_use := {schema}.in_use(here.number);
        step.reservation := held.id;
      ELSE
        step.guard := 'something_to_clean';
      END IF;
      step.recorded := true;
      step.revision := here.revision;
      RETURN NEXT step;
    END LOOP;
  END IF;
  RETURN NEXT {schema}.leave(here, believed);
END
$$;
