-- Ends by minute and phase, from the newest back.
-- :since, :limit (rows looked at)
SELECT finished_at / 60000 AS minute, phase, count(*) AS jobs FROM (
  SELECT finished_at, phase FROM job INDEXED BY job_finished
  WHERE finished_at IS NOT NULL AND finished_at >= :since ORDER BY finished_at DESC LIMIT :limit)
GROUP BY minute, phase ORDER BY minute, phase
