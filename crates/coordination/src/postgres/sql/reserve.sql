-- Reserve: the first entry of the windows named becomes a place of one worker, once per reservation id. Atomic: the batch,
-- decided id by id.
-- Takes: pool, epoch believed, now; the worker; ids; windows (≤ 32): kinds, queues, priorities.
-- Writes reservation, entry, queue_window, pool.
-- Rows: job, kind, queue, priority, checkpoint_revision | opening | reservation_held (job) | global_limit | queue_paused |
-- queued.
CREATE OR REPLACE FUNCTION {schema}.reserve(
  pool_name text, believed bigint, clock_ms bigint, for_worker uuid, ids uuid[],
  kinds text[], queues text[], priorities integer[])
RETURNS SETOF {schema}.step LANGUAGE plpgsql AS $$
DECLARE
  here   {schema}.pool := {schema}.arrive(pool_name, believed, clock_ms);
  step   {schema}.step;
  held   {schema}.reservation;
  former uuid;
  used   bigint;
BEGIN
  IF here.epoch = believed AND believed > 0 THEN
    IF here.open THEN
      used := {schema}.in_use(here.number);
    END IF;
    FOR i IN 1 .. cardinality(ids) LOOP
      step := NULL;
      step.recorded := false;
      held := NULL;
      SELECT r.* INTO held FROM {schema}.reservation r WHERE r.pool = here.number AND r.id = ids[i];
      IF NOT here.open THEN
        step.guard := 'opening';
      ELSIF held.id IS NOT NULL AND held.worker <> for_worker THEN
        step.guard := 'reservation_held';
        step.recorded := true;
      ELSIF held.id IS NOT NULL THEN
        UPDATE {schema}.reservation r SET deadline_ms = here.now_ms + here.lease_ms
        WHERE r.pool = here.number AND r.id = ids[i];
      ELSE
        SELECT e.job INTO former FROM {schema}.ended e WHERE e.pool = here.number AND e.id = ids[i];
        IF FOUND THEN
          held.job := former;
          step.guard := 'reservation_held';
          step.recorded := true;
        ELSIF used >= here.global_limit THEN
          step.guard := 'global_limit';
        ELSE
          SELECT here.number, ids[i], f.job, for_worker, q.kind, q.queue, q.priority, f.checkpoint_revision,
            here.now_ms + here.lease_ms
          INTO held
          FROM unnest(kinds, queues, priorities) AS w (kind, queue, priority)
          JOIN {schema}.queue_window q
            ON q.pool = here.number AND q.kind = w.kind AND q.queue = w.queue AND q.priority = w.priority
          CROSS JOIN LATERAL (
            SELECT e.job, e.due, e.sequence, e.checkpoint_revision FROM {schema}.entry e
            WHERE e.pool = here.number AND e.window_number = q.number
            ORDER BY e.pool, e.window_number, e.due, e.sequence, e.job LIMIT 1) f
          WHERE q.queue <> ALL (here.paused)
          ORDER BY q.priority, f.due, f.sequence, f.job LIMIT 1;
          IF FOUND THEN
            INSERT INTO {schema}.reservation SELECT held.*;
            PERFORM {schema}.drop_entry(here.number, held.job);
            used := used + 1;
            step.recorded := true;
            step.in_use := used;
          ELSIF EXISTS (
            SELECT FROM unnest(kinds, queues, priorities) AS w (kind, queue, priority)
            JOIN {schema}.queue_window q
              ON q.pool = here.number AND q.kind = w.kind AND q.queue = w.queue AND q.priority = w.priority) THEN
            step.guard := 'queue_paused';
          ELSE
            step.guard := 'queued';
          END IF;
        END IF;
      END IF;
      IF step.recorded THEN
        here.revision := here.revision + 1;
      END IF;
      step.revision := here.revision;
      step.job := held.job;
      step.kind := held.kind;
      step.queue := held.queue;
      step.priority := held.priority;
      step.checkpoint_revision := held.checkpoint_revision;
      RETURN NEXT step;
    END LOOP;
  END IF;
  RETURN NEXT {schema}.leave(here, believed);
END
$$;
