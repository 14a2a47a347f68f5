-- ScheduleRetry: a job whose retry is due is queued again, by its due time.
-- Writes job (phase, revision), retry_wait (the row goes), outbox (a row).
--
--: guards
-- Answers: the guards by name. No row: the job is unknown.
--   already: it was scheduled before and has not moved since.
-- :job, :now
SELECT
  j.phase = 'retry_wait'            AS phase_retry_wait,
  j.due_at <= :now                  AS due,
  j.phase = 'queued' AND j.token > 0 AS already,
  j.phase, j.revision, j.token, j.max_attempts, j.due_at
FROM job j WHERE j.job = :job

--: take
-- :job, :due (as it was; or now, by `retry`)
UPDATE job SET phase = 'queued', due_at = :due, revision = revision + 1 WHERE job = :job
