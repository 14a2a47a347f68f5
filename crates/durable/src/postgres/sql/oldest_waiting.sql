-- The job that waits longest: due, queued, not set aside. Steps from window to window through the index, so the cost
-- is in the number of windows, not of rows.
-- $1 now (NULL: the server's clock)
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
SELECT f.job FROM step s CROSS JOIN LATERAL (
  SELECT o.job, o.due, o.sequence FROM {schema}.outbox o
  WHERE o.set_aside IS NULL AND o.queue = s.queue AND o.kind = s.kind AND o.priority = s.priority
  ORDER BY o.due, o.sequence LIMIT 1
) f
WHERE f.due <= {schema}.now_ms($1)
ORDER BY f.due, f.sequence
LIMIT 1
