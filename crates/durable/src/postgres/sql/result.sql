-- The published result of a job. No row: there is none.
-- $1 job
SELECT attempt AS result_attempt, token AS result_token, at AS result_at, files, bytes, digest, manifest
FROM {schema}.result WHERE job = $1
