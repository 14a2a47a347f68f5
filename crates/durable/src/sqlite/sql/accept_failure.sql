-- AcceptFailure: the attempt failed; the job waits for a retry or has failed. Refused, it is RejectOutcome.
-- Writes job (phase, attempt, max_attempts, losses, due_at, finished_at, revision), retry_wait (a row, unless the job
-- ends), and what `end_attempt.sql` and `end_job.sql` say.
--
--: guards
-- Answers: the guards by name, what the delay depends on, and the ledger's row of this attempt if it has ended.
-- No row: the job is unknown.
-- :job, :attempt, :token
SELECT
  j.attempt IS :attempt AND j.token = :token AS authority,
  j.phase = 'running'                        AS phase_running,
  NOT j.cancel_requested                     AS not_cancel_requested,
  j.phase, j.revision, j.max_attempts, j.retry_base_ms, j.retry_cap_ms,
  l.verdict, l.revision AS ended_revision, l.phase_after, l.due AS ended_due
FROM job j LEFT JOIN attempt l ON l.job = j.job AND l.attempt = :attempt AND l.token = :token
WHERE j.job = :job

--: take
-- :job, :phase ('retry_wait' or 'failed'), :max_attempts (lowered by a permanent failure), :due (NULL when failed),
-- :finished_at (NULL in retry_wait)
UPDATE job SET
  phase = :phase, attempt = NULL, max_attempts = :max_attempts, losses = 0, due_at = coalesce(:due, due_at),
  finished_at = :finished_at, revision = revision + 1
WHERE job = :job
