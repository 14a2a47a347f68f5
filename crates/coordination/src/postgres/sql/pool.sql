-- pool: reads epoch, configuration and what is in use, at one moment. Locks nothing.
-- Answers: epoch, revision, open, epoch_age_ms, grace_over, config_revision, global_limit, lease_ms, paused, leases,
-- reservations, unaccounted, queued, installation; no row when the store is empty.
-- $1 the pool's name, $2 now in ms (null: the server's clock)
SELECT
  p.epoch, p.revision, p.open, m.now_ms - p.began_ms AS epoch_age_ms, g.over AS grace_over, p.config_revision,
  p.global_limit, p.lease_ms, p.paused, p.installation,
  (SELECT count(*) FROM {schema}.lease l WHERE l.pool = p.number)                     AS leases,
  (SELECT count(*) FROM {schema}.reservation r WHERE r.pool = p.number)               AS reservations,
  (SELECT count(*) FROM {schema}.unaccounted u WHERE u.pool = p.number AND NOT g.over) AS unaccounted,
  (SELECT coalesce(sum(q.entries), 0) FROM {schema}.queue_window q WHERE q.pool = p.number) AS queued
FROM {schema}.pool p
CROSS JOIN LATERAL (
  SELECT coalesce($2, (date_part('epoch', clock_timestamp()) * 1000)::bigint) AS clock_ms) c
CROSS JOIN LATERAL (SELECT greatest(p.now_ms, c.clock_ms) AS now_ms) m
CROSS JOIN LATERAL (SELECT NOT p.in_grace OR m.now_ms - p.began_ms >= p.lease_ms AS over) g
WHERE p.name = $1 AND p.home = p.tableoid AND p.epoch > 0 AND c.clock_ms + p.lease_ms >= p.now_ms
