-- The earliest time after now at which a retry or a scheduled job falls due; NULL for none.
-- :now
SELECT min(at) AS at FROM (
  SELECT min(due) AS at FROM retry_wait WHERE due > :now
  UNION ALL
  SELECT min(due) AS at FROM outbox WHERE scheduled AND set_aside IS NULL AND due > :now
)
