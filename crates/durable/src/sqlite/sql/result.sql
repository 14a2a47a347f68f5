-- The published result of a job. No row: there is none.
-- :job
SELECT attempt, token, at, files, bytes, digest, manifest FROM result WHERE job = :job
