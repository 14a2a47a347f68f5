-- FinalizeCancel: the attempt of a cancelling job loses its authority; the job is cancelled.
-- Writes job (phase, attempt, finished_at, revision) and what `end_attempt.sql` and `end_job.sql` say.
--
--: guards
-- Answers: the guards by name, and the ledger's row of this attempt if it has ended. No row: the job is unknown.
-- :job, :attempt
SELECT
  j.phase = 'cancelling' AS phase_cancelling,
  j.attempt IS :attempt  AS authority,
  j.phase, j.revision, j.token, j.max_attempts,
  l.verdict, l.revision AS ended_revision, l.phase_after, l.due AS ended_due
FROM job j LEFT JOIN attempt l ON l.job = j.job AND l.attempt = :attempt
WHERE j.job = :job

--: take
-- :job, :now
UPDATE job SET phase = 'cancelled', attempt = NULL, finished_at = :now, revision = revision + 1 WHERE job = :job
