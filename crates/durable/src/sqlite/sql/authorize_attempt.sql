-- AuthorizeAttempt: the claim. One transaction; the linearization point of an attempt's authority.
-- Writes job (phase, token, attempt, revision), running (a row), outbox (the row goes, or is set aside).
--
--: guards
-- Answers: the guards by name, and what the claim gives. No row: the job is unknown.
--   already_yours: this very attempt has authority.   lost: it has not had and lost it.
-- :job, :attempt, :checkpoint_revision (the one that the worker has verified; 0 for none)
SELECT
  j.attempt IS :attempt                                                          AS already_yours,
  NOT EXISTS (SELECT 1 FROM attempt l WHERE l.job = j.job AND l.attempt = :attempt) AS lost,
  NOT EXISTS (SELECT 1 FROM running r WHERE r.attempt = :attempt)                AS attempt_unused,
  o.set_aside IS NULL                                                            AS not_set_aside,
  j.phase = 'queued'                                                             AS phase_queued,
  o.job IS NOT NULL                                                              AS dispatch_needed,
  j.token < j.max_attempts                                                       AS attempts_left,
  iif(j.checkpoint_valid, j.checkpoint_revision, 0) = :checkpoint_revision       AS checkpoint_changed,
  j.phase, j.revision, j.token, j.max_attempts,
  iif(j.checkpoint_valid, j.progress, 0)                                         AS progress,
  iif(j.checkpoint_valid, j.checkpoint_revision, 0)                              AS checkpoint_revision,
  s.spec
FROM job j
LEFT JOIN outbox o ON o.job = j.job
LEFT JOIN job_spec s ON s.job = j.job
WHERE j.job = :job

--: take
-- :job, :attempt
UPDATE job SET phase = 'running', token = token + 1, attempt = :attempt, revision = revision + 1
WHERE job = :job

--: run
-- :attempt, :worker, :reservation, :epoch, :now, :job, :checkpoint_revision, :progress
INSERT INTO running (attempt, job, token, worker, reservation, epoch, started_at, checkpoint_revision, resumed_from,
                     progress, revision)
SELECT :attempt, job, token, :worker, :reservation, :epoch, :now, :checkpoint_revision, :progress, :progress, revision
FROM job WHERE job = :job

--: again
-- What the claim gave when it was first answered.
-- :attempt
SELECT r.token, r.revision, r.checkpoint_revision FROM running r WHERE r.attempt = :attempt
