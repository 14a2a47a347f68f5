-- Jobs for people, newest first: of all phases.
-- $1 phase (or NULL for all), $2 kind (or NULL), $3 queue (or NULL), $4 before (an id, or NULL for the newest), $5 limit
SELECT j.job, j.kind, j.queue, j.priority, j.phase, j.token, j.max_attempts, j.created_at, j.due_at, j.finished_at,
  j.user_progress, j.words, o.set_aside AS set_aside,
  (SELECT substr(e.error, 1, 1024) FROM {schema}.attempt_error e WHERE e.job = j.job ORDER BY e.token DESC LIMIT 1)
    AS error
FROM {schema}.job j LEFT JOIN {schema}.outbox o ON o.job = j.job
WHERE j.job <= coalesce($4::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff') AND j.job IS DISTINCT FROM $4::uuid
  AND ($1::text IS NULL OR j.phase = $1) AND ($2::text IS NULL OR j.kind = $2) AND ($3::text IS NULL OR j.queue = $3)
ORDER BY j.job DESC
LIMIT $5::bigint
