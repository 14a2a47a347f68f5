-- workers: reads registrations that are not forgotten, with the leases of each, at one moment. Locks nothing.
-- Answers: for each worker and each of its leases registration, silent_ms; job, attempt, token, worker, age_ms.
-- $1 the pool's name, $2 now in ms (null: the server's clock)
WITH here AS (
  SELECT p.number, p.lease_ms,
    greatest(p.now_ms, coalesce($2, (date_part('epoch', clock_timestamp()) * 1000)::bigint)) AS now_ms
  FROM {schema}.pool p WHERE p.name = $1 AND p.home = p.tableoid AND p.epoch > 0
)
SELECT w.registration, p.now_ms - w.seen_ms AS silent_ms, l.job, l.attempt, l.token, l.worker,
  p.now_ms - l.renewed_ms AS age_ms
FROM here p
JOIN {schema}.worker w ON w.pool = p.number AND w.seen_ms >= p.now_ms - 2 * p.lease_ms
LEFT JOIN {schema}.lease l ON l.pool = p.number AND l.worker = w.id
ORDER BY w.id, l.attempt
