-- PersistCheckpoint: progress, state and the output so far become what the next attempt starts from.
-- Writes job (progress, checkpoint_valid, checkpoint_revision, user_progress, losses, revision), checkpoint (a row
-- for the new one; the one before goes unless the running attempt inherited it), running (progress).
--
--: guards
-- Answers: the guards by name. No row: the job is unknown.
--   persisted_revision: this attempt has persisted this very count before; the revision it was given.
-- :job, :attempt, :token, :progress
SELECT
  j.attempt IS :attempt AND j.token = :token AS authority,
  j.phase = 'running'                        AS phase_running,
  :progress > 0                              AS progress_positive,
  coalesce(:progress > r.progress, 0)        AS checkpoint_advances,
  (SELECT c.revision FROM checkpoint c WHERE c.job = j.job AND c.attempt = :attempt AND c.progress = :progress)
                                             AS persisted_revision,
  j.phase, j.revision, j.max_attempts, r.worker
FROM job j LEFT JOIN running r ON r.attempt = j.attempt
WHERE j.job = :job

--: take
-- :job, :progress, :user (JSON)
UPDATE job SET
  progress = :progress, checkpoint_valid = 1, checkpoint_revision = revision + 1, revision = revision + 1,
  user_progress = :user, losses = 0
WHERE job = :job

--: store
-- :job, :revision, :attempt, :token, :progress, :user (JSON), :now, :state, :manifest
INSERT INTO checkpoint (job, revision, attempt, token, progress, user, at, state, manifest)
VALUES (:job, :revision, :attempt, :token, :progress, :user, :now, :state, :manifest)

--: advance
-- :attempt, :progress
UPDATE running SET progress = :progress WHERE attempt = :attempt

--: forget
-- Removes what neither the next attempt nor the running one starts from.
-- :job, :attempt, :revision (the new one)
DELETE FROM checkpoint
WHERE job = :job AND revision <> :revision
  AND revision <> (SELECT checkpoint_revision FROM running WHERE attempt = :attempt)
