-- DispatchRead of named jobs: those of them that may be enqueued, in the order asked.
-- $1 now (NULL: the server's clock), $2 jobs
SELECT o.job, o.queue, o.kind, o.priority, o.due, o.sequence, j.revision,
  CASE WHEN j.checkpoint_valid THEN j.checkpoint_revision ELSE 0 END AS checkpoint_revision
FROM unnest($2::uuid[]) WITH ORDINALITY AS r (job, place)
JOIN {schema}.outbox o ON o.job = r.job
JOIN {schema}.job j ON j.job = r.job
WHERE o.set_aside IS NULL AND o.due <= {schema}.now_ms($1)
ORDER BY r.place
