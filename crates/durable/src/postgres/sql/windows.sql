-- Windows with rows in the outbox that are not set aside, as `step`, for the statement that follows. Steps from window
-- to window through the index, so the cost is in the number of windows, not of rows.
WITH RECURSIVE step AS (
  (SELECT queue, kind, priority FROM {schema}.outbox WHERE set_aside IS NULL ORDER BY queue, kind, priority LIMIT 1)
  UNION ALL
  SELECT n.queue, n.kind, n.priority
  FROM step s CROSS JOIN LATERAL (
    SELECT o.queue, o.kind, o.priority FROM {schema}.outbox o
    WHERE o.set_aside IS NULL AND (o.queue, o.kind, o.priority) > (s.queue, s.kind, s.priority)
    ORDER BY o.queue, o.kind, o.priority LIMIT 1
  ) n
)
