-- The valid checkpoint of a job that is not terminal.
-- $1 job
SELECT c.revision, c.attempt, c.token, c.progress, c.user_progress, c.at, c.state, c.manifest
FROM {schema}.job j JOIN {schema}.checkpoint c ON c.job = j.job AND c.revision = j.checkpoint_revision
WHERE j.job = $1 AND j.checkpoint_valid AND j.finished_at IS NULL
