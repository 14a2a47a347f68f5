-- The jobs that a list walks over: all jobs; $1 is NULL.
-- $1 phase, $2 before (an id, or NULL for the newest)
FROM {schema}.job s JOIN {schema}.job j ON j.job = s.job LEFT JOIN {schema}.outbox o ON o.job = s.job
WHERE s.job <= coalesce($2::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff') AND s.job IS DISTINCT FROM $2::uuid
  AND $1::text IS NULL
