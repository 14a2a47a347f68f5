-- InvalidateCheckpoint: a checkpoint that failed verification is never used again.
-- Writes job (checkpoint_valid, revision), checkpoint (when and why).
--
--: guards
-- Answers: the guards by name. No row: the job is unknown.
--   invalidated_revision: that checkpoint was invalidated before; the job's revision then.
-- :job, :checkpoint_revision
SELECT
  j.finished_at IS NULL                          AS not_terminal,
  j.checkpoint_valid                             AS checkpoint_valid,
  j.checkpoint_revision = :checkpoint_revision   AS checkpoint_changed,
  j.phase, j.revision, j.token, j.max_attempts, j.progress,
  (SELECT c.invalidated_revision FROM checkpoint c WHERE c.job = j.job AND c.revision = :checkpoint_revision)
                                                 AS invalidated_revision
FROM job j WHERE j.job = :job

--: take
-- :job
UPDATE job SET checkpoint_valid = 0, revision = revision + 1 WHERE job = :job

--: record
-- :job, :checkpoint_revision, :revision, :reason
UPDATE checkpoint SET invalidated_revision = :revision, invalidated_because = :reason
WHERE job = :job AND revision = :checkpoint_revision
