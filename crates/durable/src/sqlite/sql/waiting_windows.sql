-- Windows with due rows in the outbox that are not set aside.
-- :now
SELECT queue, kind, priority FROM step s
WHERE EXISTS (
  SELECT 1 FROM outbox o
  WHERE o.set_aside IS NULL AND o.queue = s.queue AND o.kind = s.kind AND o.priority = s.priority AND o.due <= :now)
