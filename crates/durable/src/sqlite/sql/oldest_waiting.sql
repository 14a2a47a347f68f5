-- The job that waits longest: due, queued, not set aside.
-- :now
SELECT o.job FROM step s JOIN outbox o ON o.sequence = (
  SELECT f.sequence FROM outbox f
  WHERE f.set_aside IS NULL AND f.queue = s.queue AND f.kind = s.kind AND f.priority = s.priority
  ORDER BY f.due, f.sequence LIMIT 1)
WHERE o.due <= :now
ORDER BY o.due, o.sequence
LIMIT 1
