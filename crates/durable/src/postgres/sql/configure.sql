-- Changes the pool's configuration; what is NULL stays, and a change that changes nothing raises nothing.
-- Writes pool (lease_ms, global_limit, paused, config_revision, revision).
-- $1 global_limit, $2 lease_ms, $3 a queue to pause, $4 a queue to resume
-- Answers: the row as it is then.
WITH locked AS MATERIALIZED (SELECT * FROM {schema}.pool FOR UPDATE),
wanted AS (
  SELECT coalesce($1::integer, global_limit) AS global_limit, coalesce($2::bigint, lease_ms) AS lease_ms,
    ARRAY(SELECT DISTINCT q COLLATE "C" FROM unnest(paused || ARRAY[$3::text]) q
          WHERE q IS NOT NULL AND q IS DISTINCT FROM $4::text ORDER BY 1) AS paused
  FROM locked
),
changed AS (
  UPDATE {schema}.pool p SET global_limit = w.global_limit, lease_ms = w.lease_ms, paused = w.paused,
    config_revision = p.config_revision + 1, revision = p.revision + 1
  FROM locked l, wanted w
  WHERE (l.global_limit, l.lease_ms, l.paused) IS DISTINCT FROM (w.global_limit, w.lease_ms, w.paused)
  RETURNING p.*
)
SELECT epoch, open, raised_from, raised_by, lease_ms, global_limit, paused, config_revision, revision, installation, target
FROM changed
UNION ALL
SELECT epoch, open, raised_from, raised_by, lease_ms, global_limit, paused, config_revision, revision, installation, target
FROM locked
WHERE NOT EXISTS (SELECT FROM changed)
