-- windows: reads the windows that living workers serve, with the entries each holds, at one moment; those that a worker
-- names are listed without entries, too. Locks nothing.
-- Answers: kind, queue, priority, entries.
-- $1 the pool's name, $2 now in ms (null: the server's clock)
WITH here AS (
  SELECT p.number,
    greatest(p.now_ms, coalesce($2, (date_part('epoch', clock_timestamp()) * 1000)::bigint)) - 2 * p.lease_ms AS horizon
  FROM {schema}.pool p WHERE p.name = $1 AND p.home = p.tableoid AND p.epoch > 0
), living AS (
  SELECT w.serves_queues, w.serves_kinds FROM here p
  JOIN {schema}.worker w ON w.pool = p.number AND NOT w.draining AND w.seen_ms >= p.horizon
), listed AS (
  SELECT q.kind, q.queue, q.priority, q.entries FROM here p JOIN {schema}.queue_window q ON q.pool = p.number
  WHERE EXISTS (
    SELECT FROM living w WHERE q.kind = ANY (w.serves_kinds) AND (w.serves_queues IS NULL OR q.queue = ANY (w.serves_queues)))
  UNION ALL
  SELECT k.kind, q.queue, r.priority, 0
  FROM living w CROSS JOIN unnest(w.serves_kinds) AS k (kind) CROSS JOIN unnest(w.serves_queues) AS q (queue)
  CROSS JOIN generate_series(1, 4) AS r (priority)
)
SELECT l.kind, l.queue, l.priority, max(l.entries) AS entries FROM listed l GROUP BY l.kind, l.queue, l.priority
