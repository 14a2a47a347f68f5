-- Jobs for people, newest first: the first part of the statement, before the jobs that it walks over.
SELECT j.job, j.kind, j.queue, j.priority, j.phase, j.token, j.max_attempts, j.created_at, j.due_at, j.finished_at,
  j.user_progress, j.words, o.set_aside AS set_aside,
  (SELECT substr(e.error, 1, 1024) FROM {schema}.attempt_error e WHERE e.job = j.job ORDER BY e.token DESC LIMIT 1)
    AS error
