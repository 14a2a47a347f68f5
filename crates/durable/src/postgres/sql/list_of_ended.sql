-- The jobs that a list walks over: those of a terminal phase.
-- $1 phase, $2 before (an id, or NULL for the newest)
FROM {schema}.ended s JOIN {schema}.job j ON j.job = s.job LEFT JOIN {schema}.outbox o ON o.job = s.job
WHERE s.job <= coalesce($2::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff') AND s.job IS DISTINCT FROM $2::uuid
  AND s.phase = $1::text
