-- Jobs for people, newest first. Statements with the same columns and the same filter; which one is used
-- depends on the phase asked for, so that none walks over jobs that it need not. CROSS JOIN keeps the order of tables.
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

--: queued
-- :phase is 'queued'.
SELECT j.job, j.kind, j.queue, j.priority, j.phase, j.token, j.max_attempts, j.created_at, j.due_at, j.finished_at,
  j.user_progress, j.words, o.set_aside,
  (SELECT substr(e.error, 1, 1024) FROM attempt_error e WHERE e.job = j.job ORDER BY e.token DESC LIMIT 1) AS error
FROM outbox o CROSS JOIN job j ON j.job = o.job
WHERE o.job < coalesce(:before, x'ffffffffffffffffffffffffffffffffff')
  AND j.phase = :phase
  AND j.kind = coalesce(:kind, j.kind)
  AND j.queue = coalesce(:queue, j.queue)
ORDER BY o.job DESC
LIMIT :limit

--: retry_wait
-- :phase is 'retry_wait'.
SELECT j.job, j.kind, j.queue, j.priority, j.phase, j.token, j.max_attempts, j.created_at, j.due_at, j.finished_at,
  j.user_progress, j.words, NULL AS set_aside,
  (SELECT substr(e.error, 1, 1024) FROM attempt_error e WHERE e.job = j.job ORDER BY e.token DESC LIMIT 1) AS error
FROM retry_wait w CROSS JOIN job j ON j.job = w.job
WHERE j.job < coalesce(:before, x'ffffffffffffffffffffffffffffffffff')
  AND j.phase = :phase
  AND j.kind = coalesce(:kind, j.kind)
  AND j.queue = coalesce(:queue, j.queue)
ORDER BY j.job DESC
LIMIT :limit

--: running
-- :phase is 'running' or 'cancelling'.
SELECT j.job, j.kind, j.queue, j.priority, j.phase, j.token, j.max_attempts, j.created_at, j.due_at, j.finished_at,
  j.user_progress, j.words, NULL AS set_aside,
  (SELECT substr(e.error, 1, 1024) FROM attempt_error e WHERE e.job = j.job ORDER BY e.token DESC LIMIT 1) AS error
FROM running r CROSS JOIN job j ON j.job = r.job
WHERE j.job < coalesce(:before, x'ffffffffffffffffffffffffffffffffff')
  AND j.phase = :phase
  AND j.kind = coalesce(:kind, j.kind)
  AND j.queue = coalesce(:queue, j.queue)
ORDER BY j.job DESC
LIMIT :limit
