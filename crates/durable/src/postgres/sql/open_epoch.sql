-- Marks the pool's epoch open: its repair has ended.
-- Writes pool (open, revision).
-- $1 epoch
-- Answers: the row as it is then.
WITH locked AS MATERIALIZED (SELECT * FROM {schema}.pool FOR UPDATE),
opened AS (
  UPDATE {schema}.pool p SET open = true, revision = p.revision + 1
  FROM locked l WHERE l.epoch = $1::bigint AND NOT l.open
  RETURNING p.*
)
SELECT epoch, open, raised_from, raised_by, lease_ms, global_limit, paused, config_revision, revision, installation, target
FROM opened
UNION ALL
SELECT epoch, open, raised_from, raised_by, lease_ms, global_limit, paused, config_revision, revision, installation, target
FROM locked
WHERE NOT EXISTS (SELECT FROM opened)
