-- A sweep has visited the stage of an ended attempt. Bookkeeping, not the spec's state.
--
--: about
-- Answers: the token of an attempt whose stage is not the published one, and the job's revision.
-- :job, :attempt
SELECT s.token, j.revision FROM stage s JOIN job j ON j.job = s.job
WHERE s.job = :job AND s.attempt = :attempt AND NOT s.committed

--: nothing_left
-- Nothing was kept: it is never due again.
-- :job, :attempt
DELETE FROM stage WHERE job = :job AND attempt = :attempt

--: kept
-- Something was kept: one sweep fewer is owed; the job's end will owe another one.
-- :job, :attempt
UPDATE stage SET owed = max(owed - 1, 0) WHERE job = :job AND attempt = :attempt

--: done
-- After the job's end, what was kept then stays: the result.
-- :job, :attempt
DELETE FROM stage
WHERE job = :job AND attempt = :attempt AND owed = 0
  AND (SELECT finished_at IS NOT NULL FROM job WHERE job = :job)
