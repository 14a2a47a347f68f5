-- Ended attempts whose stage is due for a sweep, and what must be kept.
--
--: stages
-- Answers: those whose process is known to be gone first, then by their end. A cleaner that leaves out ends that are
-- too young leaves out the last rows only, so nothing waits behind them.
-- :limit
SELECT s.job, s.attempt, s.token, s.ended_at, s.stopped, s.committed, j.finished_at IS NOT NULL AS terminal
FROM stage s JOIN job j ON j.job = s.job
WHERE s.owed > 0
ORDER BY s.stopped DESC, s.ended_at, s.attempt
LIMIT :limit

--: keep
-- Answers: the documents of the job that are still referred to.
--   manifest: whether it lists parts; else it is a state, of use only where it lies on the target.
-- :job
SELECT 1 AS manifest, c.manifest AS document
FROM job j JOIN checkpoint c ON c.job = j.job AND c.revision = j.checkpoint_revision
WHERE j.job = :job AND j.checkpoint_valid AND j.finished_at IS NULL
UNION ALL
SELECT 0, c.state
FROM job j JOIN checkpoint c ON c.job = j.job AND c.revision = j.checkpoint_revision
WHERE j.job = :job AND j.checkpoint_valid AND j.finished_at IS NULL
UNION ALL
SELECT 1, c.manifest
FROM running r JOIN checkpoint c ON c.job = r.job AND c.revision = r.checkpoint_revision
WHERE r.job = :job
UNION ALL
SELECT 0, c.state
FROM running r JOIN checkpoint c ON c.job = r.job AND c.revision = r.checkpoint_revision
WHERE r.job = :job
UNION ALL
SELECT 1, manifest FROM result WHERE job = :job
