-- InvalidateCheckpoint: a checkpoint that failed verification is never used again.
-- Writes job (checkpoint_valid, revision), checkpoint (when and why).
-- Arrays of one length, no job twice: $1 job, $2 checkpoint_revision, $3 reason
-- Answers, in order: the guards by name, the row as it was, and
--   moved: the job changed while this statement waited for it; nothing was done, ask again.
--   invalidated_revision: that checkpoint was invalidated before; the job's revision then.
WITH request AS MATERIALIZED (
  SELECT * FROM unnest($1::uuid[], $2::bigint[], $3::text[]) WITH ORDINALITY AS r (job, named_revision, reason, place)
),
locked AS MATERIALIZED (
  SELECT r.*, j.phase, j.revision, j.token, j.max_attempts, j.progress, j.finished_at,
    j.checkpoint_valid AS is_valid, j.checkpoint_revision
  FROM (SELECT * FROM request ORDER BY job) r
  LEFT JOIN LATERAL (SELECT * FROM {schema}.job WHERE job.job = r.job FOR UPDATE) j ON true
),
decided AS MATERIALIZED (
  SELECT l.*,
    l.revision IS DISTINCT FROM (SELECT s.revision FROM {schema}.job s WHERE s.job = l.job) AS moved,
    l.revision IS NOT NULL                   AS job_exists,
    l.finished_at IS NULL                    AS not_terminal,
    l.is_valid                               AS checkpoint_valid,
    l.checkpoint_revision = l.named_revision AS checkpoint_changed,
    c.invalidated_revision
  FROM locked l LEFT JOIN {schema}.checkpoint c ON c.job = l.job AND c.revision = l.named_revision
),
taken AS MATERIALIZED (
  SELECT * FROM decided
  WHERE job_exists AND NOT moved AND invalidated_revision IS NULL AND not_terminal AND checkpoint_valid
    AND checkpoint_changed
),
invalidated AS (
  UPDATE {schema}.job j SET checkpoint_valid = false, revision = j.revision + 1 FROM taken t WHERE j.job = t.job
),
recorded AS (
  UPDATE {schema}.checkpoint c SET invalidated_revision = t.revision + 1, invalidated_because = t.reason
  FROM taken t WHERE c.job = t.job AND c.revision = t.named_revision
)
SELECT place, moved, job_exists, not_terminal, checkpoint_valid, checkpoint_changed, invalidated_revision, phase,
  revision, token, max_attempts, progress
FROM decided ORDER BY place
