-- A stored checkpoint.
--
--: at_revision
-- Answers: the checkpoint of that revision. No row: it is not there. The documents are NULL once the job has ended.
-- :job, :revision
SELECT revision, attempt, token, progress, user, at, state, manifest
FROM checkpoint WHERE job = :job AND revision = :revision

--: valid
-- Answers: the valid checkpoint of a job that is not terminal.
-- :job
SELECT c.revision, c.attempt, c.token, c.progress, c.user, c.at, c.state, c.manifest
FROM job j JOIN checkpoint c ON c.job = j.job AND c.revision = j.checkpoint_revision
WHERE j.job = :job AND j.checkpoint_valid AND j.finished_at IS NULL
