-- One job, whole, for people.
--
--: job
-- :job
SELECT j.job, j.kind, j.queue, j.priority, j.phase, j.token, j.max_attempts, j.created_at, j.due_at, j.finished_at,
  j.user_progress, j.words, o.set_aside,
  (SELECT substr(e.error, 1, 1024) FROM attempt_error e WHERE e.job = j.job ORDER BY e.token DESC LIMIT 1) AS error,
  j.revision, j.retry_of, s.spec,
  iif(j.checkpoint_valid AND j.finished_at IS NULL, j.checkpoint_revision, 0) AS checkpoint_revision
FROM job j LEFT JOIN outbox o ON o.job = j.job LEFT JOIN job_spec s ON s.job = j.job
WHERE j.job = :job

--: attempts
-- Those that have ended, then the one that runs.
-- :job
SELECT a.attempt, a.token, a.worker, a.started_at, a.ended_at, a.verdict, a.exit_code, a.exit_signal, a.resumed_from,
  e.error
FROM attempt a LEFT JOIN attempt_error e ON e.job = a.job AND e.token = a.token
WHERE a.job = :job
UNION ALL
SELECT attempt, token, worker, started_at, NULL, NULL, NULL, NULL, resumed_from, NULL FROM running WHERE job = :job
ORDER BY 2
