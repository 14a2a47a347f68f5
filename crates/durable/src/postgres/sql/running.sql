-- Attempts with authority, ordered by id.
-- $1 now (NULL: the server's clock), $2 after (an id, or NULL for the start), $3 limit
SELECT r.job, r.attempt, r.token, r.worker, r.epoch, r.cancel_requested_at, j.phase, j.revision,
  {schema}.now_ms($1) AS now
FROM (
  SELECT * FROM {schema}.running
  WHERE attempt >= coalesce($2::uuid, '00000000-0000-0000-0000-000000000000') AND attempt IS DISTINCT FROM $2::uuid
  ORDER BY attempt LIMIT $3::bigint
) r JOIN {schema}.job j ON j.job = r.job
ORDER BY r.attempt
