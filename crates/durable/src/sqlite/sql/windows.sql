-- Windows with rows in the outbox that are not set aside, as `step`, for the statement that follows. Steps from window
-- to window through the index, so the cost is in the number of windows, not of rows.
WITH RECURSIVE step (queue, kind, priority) AS (
  SELECT * FROM (
    SELECT queue, kind, priority FROM outbox WHERE set_aside IS NULL ORDER BY queue, kind, priority LIMIT 1)
  UNION ALL
  SELECT o.queue, o.kind, o.priority
  FROM step s JOIN outbox o ON o.sequence = coalesce(
    (SELECT n.sequence FROM outbox n
     WHERE n.set_aside IS NULL AND n.queue = s.queue AND n.kind = s.kind AND n.priority > s.priority
     ORDER BY n.priority LIMIT 1),
    (SELECT n.sequence FROM outbox n
     WHERE n.set_aside IS NULL AND n.queue = s.queue AND n.kind > s.kind
     ORDER BY n.kind, n.priority LIMIT 1),
    (SELECT n.sequence FROM outbox n
     WHERE n.set_aside IS NULL AND n.queue > s.queue
     ORDER BY n.queue, n.kind, n.priority LIMIT 1))
)
