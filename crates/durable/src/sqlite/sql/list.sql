-- Jobs for people, newest first. Three statements with the same columns and the same filter; which one is used
-- depends on the phases asked for, so that none walks over jobs that it need not.
-- :phase (or NULL for all), :kind (or NULL), :queue (or NULL), :before (an id, or NULL for the newest), :limit
--
--: all
SELECT j.job, j.kind, j.queue, j.priority, j.phase, j.token, j.max_attempts, j.created_at, j.due_at, j.finished_at,
  j.user_progress, j.words, o.set_aside,
  (SELECT substr(e.error, 1, 1024) FROM attempt_error e WHERE e.job = j.job ORDER BY e.token DESC LIMIT 1) AS error
FROM job j LEFT JOIN outbox o ON o.job = j.job
WHERE j.job < coalesce(:before, x'ffffffffffffffffffffffffffffffffff')
  AND j.phase = coalesce(:phase, j.phase)
  AND j.kind = coalesce(:kind, j.kind)
  AND j.queue = coalesce(:queue, j.queue)
ORDER BY j.job DESC
LIMIT :limit

--: ended
-- :phase is one of the terminal ones.
SELECT j.job, j.kind, j.queue, j.priority, j.phase, j.token, j.max_attempts, j.created_at, j.due_at, j.finished_at,
  j.user_progress, j.words, NULL AS set_aside,
  (SELECT substr(e.error, 1, 1024) FROM attempt_error e WHERE e.job = j.job ORDER BY e.token DESC LIMIT 1) AS error
FROM job j INDEXED BY job_ended
WHERE j.job < coalesce(:before, x'ffffffffffffffffffffffffffffffffff')
  AND j.finished_at IS NOT NULL AND j.phase = :phase
  AND j.kind = coalesce(:kind, j.kind)
  AND j.queue = coalesce(:queue, j.queue)
ORDER BY j.job DESC
LIMIT :limit

--: live
-- :phase is one of those that are not terminal.
SELECT j.job, j.kind, j.queue, j.priority, j.phase, j.token, j.max_attempts, j.created_at, j.due_at, j.finished_at,
  j.user_progress, j.words, o.set_aside,
  (SELECT substr(e.error, 1, 1024) FROM attempt_error e WHERE e.job = j.job ORDER BY e.token DESC LIMIT 1) AS error
FROM (
  SELECT job FROM outbox WHERE :phase = 'queued'
  UNION ALL SELECT job FROM retry_wait WHERE :phase = 'retry_wait'
  UNION ALL SELECT job FROM running WHERE :phase IN ('running', 'cancelling')
) w
JOIN job j ON j.job = w.job
LEFT JOIN outbox o ON o.job = w.job
WHERE j.job < coalesce(:before, x'ffffffffffffffffffffffffffffffffff')
  AND j.phase = :phase
  AND j.kind = coalesce(:kind, j.kind)
  AND j.queue = coalesce(:queue, j.queue)
ORDER BY j.job DESC
LIMIT :limit
