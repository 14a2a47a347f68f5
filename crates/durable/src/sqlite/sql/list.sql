-- Jobs for people, newest first. A statement is a head, the jobs it walks over, and a tail; which jobs those are
-- depends on the phase asked for, so that none walks over jobs that it need not. CROSS JOIN keeps the order of tables.
-- :phase (or NULL for all), :kind (or NULL), :queue (or NULL), :workers (a JSON array of hexadecimal ids, or NULL),
-- :created_from (or NULL), :created_until (or NULL), :text (or NULL), :before (an id, or NULL for the newest),
-- :floor (the last id to look at, or NULL), :limit
--
--: head
SELECT j.job, j.kind, j.queue, j.priority, j.phase, j.token, j.max_attempts, j.created_at, j.due_at, j.finished_at,
  j.user_progress, j.words, o.set_aside,
  (SELECT substr(e.error, 1, 1024) FROM attempt_error e WHERE e.job = j.job ORDER BY e.token DESC LIMIT 1) AS error

--: all
FROM job s CROSS JOIN job j ON j.job = s.job LEFT JOIN outbox o ON o.job = s.job
WHERE s.job < coalesce(:before, x'ffffffffffffffffffffffffffffffffff') AND :phase IS NULL

--: ended
-- :phase is one of the terminal ones.
FROM job s INDEXED BY job_ended CROSS JOIN job j ON j.job = s.job LEFT JOIN outbox o ON o.job = s.job
WHERE s.job < coalesce(:before, x'ffffffffffffffffffffffffffffffffff')
  AND s.finished_at IS NOT NULL AND s.phase = :phase

--: queued
-- :phase is 'queued'.
FROM outbox s CROSS JOIN job j ON j.job = s.job LEFT JOIN outbox o ON o.job = s.job
WHERE s.job < coalesce(:before, x'ffffffffffffffffffffffffffffffffff') AND j.phase = :phase

--: retry_wait
-- :phase is 'retry_wait'.
FROM retry_wait s CROSS JOIN job j ON j.job = s.job LEFT JOIN outbox o ON o.job = s.job
WHERE s.job < coalesce(:before, x'ffffffffffffffffffffffffffffffffff') AND j.phase = :phase

--: running
-- :phase is 'running' or 'cancelling'.
FROM running s CROSS JOIN job j ON j.job = s.job LEFT JOIN outbox o ON o.job = s.job
WHERE s.job < coalesce(:before, x'ffffffffffffffffffffffffffffffffff') AND j.phase = :phase

--: tail
  AND (:floor IS NULL OR s.job >= :floor)
  AND (:kind IS NULL OR j.kind = :kind)
  AND (:queue IS NULL OR j.queue = :queue)
  AND (:created_from IS NULL OR j.created_at >= :created_from)
  AND (:created_until IS NULL OR j.created_at < :created_until)
  AND (:workers IS NULL OR EXISTS (
    SELECT 1 FROM running r WHERE r.job = j.job AND hex(r.worker) IN (SELECT value FROM json_each(:workers))))
  AND (:text IS NULL OR instr(
    lower(j.kind || ' ' || replace(coalesce(j.words, ''), '","', ' ') || ' ' || coalesce(
      (SELECT substr(e.error, 1, 1024) FROM attempt_error e WHERE e.job = j.job ORDER BY e.token DESC LIMIT 1), '')),
    lower(:text)) > 0)
ORDER BY s.job DESC
LIMIT :limit

--: reach
-- After a head of `SELECT s.job`: the last of the jobs that one page looks at, if there are so many.
-- :phase, :before, :skip
ORDER BY s.job DESC
LIMIT 1 OFFSET :skip
