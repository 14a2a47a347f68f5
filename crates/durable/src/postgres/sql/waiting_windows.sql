-- Windows with due rows in the outbox that are not set aside.
-- $1 now (NULL: the server's clock)
SELECT queue, kind, priority FROM step s
WHERE EXISTS (
  SELECT FROM {schema}.outbox o
  WHERE o.set_aside IS NULL AND o.queue = s.queue AND o.kind = s.kind AND o.priority = s.priority
    AND o.due <= {schema}.now_ms($1))
ORDER BY queue, kind, priority
