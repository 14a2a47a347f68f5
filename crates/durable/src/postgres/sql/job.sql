-- One job, whole, for people, in one snapshot: one row for each attempt that has ended and the one that runs, at least
-- one. What the job asks for and its result are in the first row only.
-- $1 job
SELECT j.job, j.kind, j.queue, j.priority, j.phase, j.token, j.max_attempts, j.created_at, j.due_at, j.finished_at,
  j.user_progress, j.words, o.set_aside, j.revision, j.retry_of,
  (SELECT substr(e.error, 1, 1024) FROM {schema}.attempt_error e WHERE e.job = j.job ORDER BY e.token DESC LIMIT 1)
    AS error,
  CASE WHEN j.checkpoint_valid AND j.finished_at IS NULL THEN j.checkpoint_revision ELSE 0 END AS checkpoint_revision,
  CASE WHEN a.first IS DISTINCT FROM false THEN s.spec END AS spec,
  a.attempt, a.token AS attempt_token, a.worker, a.started_at, a.ended_at, a.verdict, a.exit_code, a.exit_signal,
  a.resumed_from, a.error AS attempt_error,
  p.attempt AS result_attempt, p.token AS result_token, p.at AS result_at, p.files, p.bytes, p.digest, p.manifest
FROM {schema}.job j
LEFT JOIN {schema}.outbox o ON o.job = j.job
LEFT JOIN {schema}.job_spec s ON s.job = j.job
LEFT JOIN LATERAL (
  SELECT t.*, row_number() OVER (ORDER BY t.token, t.started_at) = 1 AS first FROM (
    SELECT l.attempt, l.token, l.worker, l.started_at, l.ended_at, l.verdict, l.exit_code, l.exit_signal,
      l.resumed_from, e.error
    FROM {schema}.attempt l LEFT JOIN {schema}.attempt_error e ON e.job = l.job AND e.token = l.token
    WHERE l.job = j.job
    UNION ALL
    SELECT r.attempt, r.token, r.worker, r.started_at, NULL, NULL, NULL, NULL, r.resumed_from, NULL
    FROM {schema}.running r WHERE r.job = j.job
  ) t
) a ON true
LEFT JOIN {schema}.result p ON p.job = j.job AND a.first
WHERE j.job = $1
ORDER BY a.token, a.started_at
