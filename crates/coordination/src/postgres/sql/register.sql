-- register: a worker lives and serves these windows; silent ones are forgotten on the way. Atomic: the whole.
-- Takes: pool, epoch believed, now; the worker, what it says of itself (opaque), queues (null: all), kinds, draining.
-- Writes worker, pool.
-- Rows: first one with flag (it serves something else than before) and drain (it was asked to drain), then kind, queue, priority of each window that has
-- entries and that it serves.
CREATE OR REPLACE FUNCTION {schema}.register(
  pool_name text, believed bigint, clock_ms bigint, of_worker uuid, says text, of_queues text[], of_kinds text[],
  drains boolean)
RETURNS SETOF {schema}.step LANGUAGE plpgsql AS $$
DECLARE
  here   {schema}.pool := {schema}.arrive(pool_name, believed, clock_ms);
  step   {schema}.step;
  waits  {schema}.queue_window;
  before {schema}.worker;
BEGIN
  IF here.epoch = believed AND believed > 0 THEN
    here.revision := here.revision + 1;
    DELETE FROM {schema}.worker w WHERE w.pool = here.number AND w.seen_ms < here.now_ms - 2 * here.lease_ms;
    SELECT w.* INTO before FROM {schema}.worker w WHERE w.pool = here.number AND w.id = of_worker;
    step.flag := NOT FOUND OR (before.serves_queues, before.serves_kinds, before.draining) IS DISTINCT FROM (of_queues, of_kinds, drains);
    INSERT INTO {schema}.worker AS w (pool, id, registration, serves_queues, serves_kinds, draining, seen_ms)
    VALUES (here.number, of_worker, says, of_queues, of_kinds, drains, here.now_ms)
    ON CONFLICT (pool, id) DO UPDATE
    SET registration = says, serves_queues = of_queues, serves_kinds = of_kinds, draining = drains, seen_ms = here.now_ms
    RETURNING w.asked_to_drain INTO step.drain;
    step.recorded := false;
    step.revision := here.revision;
    RETURN NEXT step;
    step := NULL;
    FOR waits IN
      SELECT q.* FROM {schema}.queue_window q
      WHERE q.pool = here.number AND q.kind = ANY (of_kinds) AND (of_queues IS NULL OR q.queue = ANY (of_queues))
    LOOP
      step.kind := waits.kind;
      step.queue := waits.queue;
      step.priority := waits.priority;
      RETURN NEXT step;
    END LOOP;
  END IF;
  RETURN NEXT {schema}.leave(here, believed);
END
$$;
