-- AcceptSuccess: the one compare-and-swap that publishes. Refused, it is RejectOutcome.
-- Writes job (phase, attempt, checkpoint_valid, finished_at, revision), result (a row), and what `end_attempt.sql`
-- and `end_job.sql` say.
--
--: guards
-- Answers: the guards by name, and the ledger's row of this attempt if it has ended. No row: the job is unknown.
-- :job, :attempt, :token
SELECT
  j.attempt IS :attempt AND j.token = :token AS authority,
  j.phase = 'running'                        AS phase_running,
  NOT j.cancel_requested                     AS not_cancel_requested,
  j.phase, j.revision, j.max_attempts,
  l.verdict, l.revision AS ended_revision, l.phase_after, l.due AS ended_due
FROM job j LEFT JOIN attempt l ON l.job = j.job AND l.attempt = :attempt AND l.token = :token
WHERE j.job = :job

--: take
-- The checkpoint is valid and complete, as the spec says; that it is complete is told by the phase.
-- :job, :now
UPDATE job SET
  phase = 'succeeded', attempt = NULL, checkpoint_valid = 1, losses = 0, finished_at = :now, revision = revision + 1
WHERE job = :job

--: publish
-- :job, :attempt, :token, :now, :files, :bytes, :digest, :manifest
INSERT INTO result (job, attempt, token, at, files, bytes, digest, manifest)
VALUES (:job, :attempt, :token, :now, :files, :bytes, :digest, :manifest)
