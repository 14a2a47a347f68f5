-- The job that waits longest: due, queued, not set aside.
-- $1 now (NULL: the server's clock)
SELECT f.job FROM step s CROSS JOIN LATERAL (
  SELECT o.job, o.due, o.sequence FROM {schema}.outbox o
  WHERE o.set_aside IS NULL AND o.queue = s.queue AND o.kind = s.kind AND o.priority = s.priority
  ORDER BY o.due, o.sequence LIMIT 1
) f
WHERE f.due <= {schema}.now_ms($1)
ORDER BY f.due, f.sequence
LIMIT 1
