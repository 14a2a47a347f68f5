-- DispatchRead: jobs that may be enqueued: due outbox rows that are not set aside.
--
--: window
-- Answers: those of one window in its order, from a position on.
-- :queue, :kind, :priority, :due, :sequence (the position), :now, :limit
SELECT o.job, o.queue, o.kind, o.priority, o.due, o.sequence, j.revision,
  iif(j.checkpoint_valid, j.checkpoint_revision, 0) AS checkpoint_revision
FROM outbox o JOIN job j ON j.job = o.job
WHERE o.queue = :queue AND o.kind = :kind AND o.priority = :priority AND o.set_aside IS NULL
  AND (o.due, o.sequence) >= (:due, :sequence) AND o.due <= :now
ORDER BY o.due, o.sequence
LIMIT :limit

--: job
-- Answers: this job, if it may be enqueued.
-- :job, :now
SELECT o.job, o.queue, o.kind, o.priority, o.due, o.sequence, j.revision,
  iif(j.checkpoint_valid, j.checkpoint_revision, 0) AS checkpoint_revision
FROM outbox o JOIN job j ON j.job = o.job
WHERE o.job = :job AND o.set_aside IS NULL AND o.due <= :now
