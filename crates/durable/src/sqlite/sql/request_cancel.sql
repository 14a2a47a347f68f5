-- RequestCancel: from here on nothing of the job will be published.
-- Writes job (phase, cancel_requested, finished_at, revision), outbox or retry_wait (the row goes), running (since
-- when), and, when the job ends at once, what `end_job.sql` says.
--
--: guards
-- Answers: the guards by name. No row: the job is unknown.
--   already: a cancel stands.
-- :job
SELECT
  j.phase IN ('queued', 'running', 'retry_wait') AS cancellable,
  j.phase IN ('cancelling', 'cancelled')         AS already,
  j.phase, j.revision, j.token, j.attempt, j.due_at, j.max_attempts
FROM job j WHERE j.job = :job

--: take
-- :job, :phase ('cancelling' or 'cancelled'), :finished_at (NULL while cancelling)
UPDATE job SET phase = :phase, cancel_requested = 1, finished_at = :finished_at, revision = revision + 1
WHERE job = :job

--: tell
-- :attempt, :now
UPDATE running SET cancel_requested_at = :now WHERE attempt = :attempt
