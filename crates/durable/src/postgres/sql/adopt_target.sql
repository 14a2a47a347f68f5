-- Remembers where this installation publishes; a later call with another target changes nothing.
-- Writes pool (target, revision).
-- $1 target
-- Answers: the row as it is then.
WITH locked AS MATERIALIZED (SELECT * FROM {schema}.pool FOR UPDATE),
adopted AS (
  UPDATE {schema}.pool p SET target = $1::uuid, revision = p.revision + 1
  FROM locked l WHERE l.target IS NULL
  RETURNING p.*
)
SELECT epoch, open, raised_from, raised_by, lease_ms, global_limit, paused, config_revision, revision, installation, target
FROM adopted
UNION ALL
SELECT epoch, open, raised_from, raised_by, lease_ms, global_limit, paused, config_revision, revision, installation, target
FROM locked
WHERE NOT EXISTS (SELECT FROM adopted)
