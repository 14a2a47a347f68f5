-- The compare-and-swap of the pool's epoch (protocol rule 9): from one that is open to a higher one, opening.
-- Writes pool (epoch, open, raised_from, raised_by, revision).
-- $1 from, $2 to, $3 whoever asks
-- Answers: the row as it is then.
WITH locked AS MATERIALIZED (SELECT * FROM {schema}.pool FOR UPDATE),
raised AS (
  UPDATE {schema}.pool p SET epoch = $2::bigint, open = false, raised_from = $1::bigint, raised_by = $3::uuid,
    revision = p.revision + 1
  FROM locked l WHERE l.epoch = $1::bigint AND l.open AND $2::bigint > $1::bigint
  RETURNING p.*
)
SELECT epoch, open, raised_from, raised_by, lease_ms, global_limit, paused, config_revision, revision, installation, target
FROM raised
UNION ALL
SELECT epoch, open, raised_from, raised_by, lease_ms, global_limit, paused, config_revision, revision, installation, target
FROM locked
WHERE NOT EXISTS (SELECT FROM raised)
