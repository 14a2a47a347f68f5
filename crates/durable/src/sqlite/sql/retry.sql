-- The verb `retry`: a job in `retry_wait` is queued now, one set aside is offered again, a failed or cancelled one
-- gives a new job (written by `submit.sql`), because a terminal row never changes.
-- Writes job (retried_by, retried, revision) and, for `retry_wait`, what `schedule_retry.sql` says.
--
--: guards
-- Answers: the guards by name. No row: the job is unknown.
--   again: this very request has moved this job before, and how.   made: it has made its new job.
-- :job, :new_job
SELECT
  j.phase IN ('failed', 'cancelled')                 AS repeatable,
  j.phase <> 'succeeded'                             AS cancellable,
  j.finished_at IS NOT NULL                          AS terminal,
  j.phase = 'retry_wait'                             AS waits,
  coalesce(o.set_aside IS NOT NULL, 0)               AS aside,
  iif(j.retried_by IS :new_job, j.retried, NULL)     AS again,
  EXISTS (SELECT 1 FROM job n WHERE n.job = :new_job AND n.retry_of = :job) AS made,
  j.phase, j.revision, j.token, j.max_attempts, j.due_at, s.spec
FROM job j
LEFT JOIN outbox o ON o.job = j.job
LEFT JOIN job_spec s ON s.job = j.job
WHERE j.job = :job

--: offer
-- :job, :now
UPDATE job SET due_at = :now, revision = revision + 1 WHERE job = :job

--: remember
-- :job, :new_job, :retried ('due_now' or 'offered')
UPDATE job SET retried_by = :new_job, retried = :retried WHERE job = :job
