-- Ended attempts whose stage is due for a sweep, and what must be kept, in one snapshot. Those whose process is known
-- to be gone come first, then by their end: a cleaner that leaves out ends that are too young leaves out the last rows
-- only, so nothing waits behind them.
-- $1 now (NULL: the server's clock), $2 limit
-- Answers: for each stage one row, or one for each document of its job that is still referred to.
--   manifest: whether it lists parts; else it is a state, of use only where it lies on the target.
SELECT s.job, s.attempt, s.token, s.ended_at, s.stopped, s.committed, j.finished_at IS NOT NULL AS terminal,
  {schema}.now_ms($1) AS now, k.manifest, k.document
FROM (
  SELECT * FROM {schema}.stage WHERE owed > 0 ORDER BY stopped DESC, ended_at, attempt LIMIT $2::bigint
) s
JOIN {schema}.job j ON j.job = s.job
LEFT JOIN LATERAL (
  SELECT 1 AS place, true AS manifest, c.manifest AS document FROM {schema}.checkpoint c
  WHERE c.job = s.job AND c.revision = j.checkpoint_revision AND j.checkpoint_valid AND j.finished_at IS NULL
  UNION ALL
  SELECT 2, false, c.state FROM {schema}.checkpoint c
  WHERE c.job = s.job AND c.revision = j.checkpoint_revision AND j.checkpoint_valid AND j.finished_at IS NULL
  UNION ALL
  SELECT 3, true, c.manifest FROM {schema}.running r
  JOIN {schema}.checkpoint c ON c.job = r.job AND c.revision = r.checkpoint_revision WHERE r.job = s.job
  UNION ALL
  SELECT 4, false, c.state FROM {schema}.running r
  JOIN {schema}.checkpoint c ON c.job = r.job AND c.revision = r.checkpoint_revision WHERE r.job = s.job
  UNION ALL
  SELECT 5, true, p.manifest FROM {schema}.result p WHERE p.job = s.job
) k ON true
ORDER BY s.stopped DESC, s.ended_at, s.attempt, k.place
