-- Where a job stands and which attempt has authority. No row: the job is unknown.
-- :job
SELECT phase, attempt, revision FROM job WHERE job = :job
