-- DispatchRead: jobs of one window that may be enqueued: due outbox rows that are not set aside, in its order, from a
-- position on. A row may become visible behind a position that was read: its place is given before its commit.
-- $1 now (NULL: the server's clock), $2 queue, $3 kind, $4 priority, $5 due, $6 sequence (the position), $7 limit
SELECT o.job, o.queue, o.kind, o.priority, o.due, o.sequence, j.revision,
  CASE WHEN j.checkpoint_valid THEN j.checkpoint_revision ELSE 0 END AS checkpoint_revision
FROM (
  SELECT * FROM {schema}.outbox
  WHERE queue = $2 AND kind = $3 AND priority = $4 AND set_aside IS NULL
    AND (due, sequence) >= ($5::bigint, $6::bigint) AND due <= {schema}.now_ms($1)
  ORDER BY due, sequence
  LIMIT $7::bigint
) o JOIN {schema}.job j ON j.job = o.job
ORDER BY o.due, o.sequence
