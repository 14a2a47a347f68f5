-- ScheduleRetry: a job whose retry is due is queued again, by its due time.
-- Writes job (phase, revision), retry_wait (the row goes), outbox (a row).
-- $1 now (NULL: the server's clock), $2 job (an array without repetition)
-- Answers, in order: the guards by name, the row as it was, and
--   moved: the job changed while this statement waited for it; nothing was done, ask again.
--   already: it was scheduled before and has not moved since.
WITH clock AS (SELECT {schema}.now_ms($1) AS now),
locked AS MATERIALIZED (
  SELECT r.place, r.job, j.phase, j.revision, j.token, j.max_attempts, j.due_at, j.queue, j.kind, j.priority
  FROM (SELECT * FROM unnest($2::uuid[]) WITH ORDINALITY AS r (job, place) ORDER BY job) r
  LEFT JOIN LATERAL (SELECT * FROM {schema}.job WHERE job.job = r.job FOR UPDATE) j ON true
),
decided AS MATERIALIZED (
  SELECT l.*, clock.now,
    l.revision IS DISTINCT FROM (SELECT s.revision FROM {schema}.job s WHERE s.job = l.job) AS moved,
    l.revision IS NOT NULL             AS job_exists,
    l.phase = 'retry_wait'             AS phase_retry_wait,
    l.due_at <= clock.now              AS due,
    l.phase = 'queued' AND l.token > 0 AS already
  FROM locked l CROSS JOIN clock
),
taken AS MATERIALIZED (
  SELECT * FROM decided WHERE job_exists AND NOT moved AND phase_retry_wait AND due
),
queued AS (
  UPDATE {schema}.job j SET phase = 'queued', revision = j.revision + 1 FROM taken t WHERE j.job = t.job
),
waited AS (
  DELETE FROM {schema}.retry_wait w USING taken t WHERE w.due = t.due_at AND w.job = t.job
),
offered AS (
  INSERT INTO {schema}.outbox (job, queue, kind, priority, due, scheduled)
  SELECT job, queue, kind, priority, due_at, due_at > now FROM taken ORDER BY place
)
SELECT place, moved, job_exists, phase_retry_wait, due, already, phase, revision, token, max_attempts
FROM decided ORDER BY place
