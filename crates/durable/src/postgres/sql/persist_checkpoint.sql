-- PersistCheckpoint: progress, state and the output so far become what the next attempt starts from.
-- Writes job (progress, checkpoint_valid, checkpoint_revision, user_progress, losses, revision), checkpoint (a row
-- for the new one; the one before goes unless the running attempt inherited it), running (progress).
-- $1 now (NULL: the server's clock). Arrays of one length, no job twice: $2 job, $3 attempt, $4 token, $5 progress,
-- $6 user (JSON), $7 state, $8 manifest
-- Answers, in order: the guards by name, the row as it was, and
--   moved: the job changed while this statement waited for it; nothing was done, ask again.
--   persisted_revision: this attempt has persisted this very count before; the revision it was given.
WITH clock AS (SELECT {schema}.now_ms($1) AS now),
request AS MATERIALIZED (
  SELECT * FROM unnest($2::uuid[], $3::uuid[], $4::integer[], $5::bigint[], $6::text[], $7::bytea[], $8::bytea[])
  WITH ORDINALITY AS r (job, attempt, token, progress, user_progress, state, manifest, place)
),
locked AS MATERIALIZED (
  SELECT r.place, r.job, r.attempt, r.token, r.progress, j.phase, j.revision, j.max_attempts, j.attempt AS holder,
    j.token AS current
  FROM (SELECT place, job, attempt, token, progress FROM request ORDER BY job) r
  LEFT JOIN LATERAL (SELECT * FROM {schema}.job WHERE job.job = r.job FOR UPDATE) j ON true
),
guarded AS MATERIALIZED (
  SELECT l.*, r.worker, r.checkpoint_revision AS inherited,
    l.revision IS DISTINCT FROM (SELECT s.revision FROM {schema}.job s WHERE s.job = l.job) AS moved,
    l.revision IS NOT NULL                                           AS job_exists,
    coalesce(l.holder = l.attempt, false) AND l.current = l.token    AS authority,
    l.phase = 'running'                                              AS phase_running,
    l.progress > 0                                                   AS progress_positive,
    coalesce(l.progress > r.progress, false)                         AS checkpoint_advances,
    (SELECT c.revision FROM {schema}.checkpoint c
     WHERE c.job = l.job AND c.attempt = l.attempt AND c.progress = l.progress) AS persisted_revision
  FROM locked l LEFT JOIN {schema}.running r ON r.attempt = l.holder
),
decided AS MATERIALIZED (
  SELECT *, job_exists AND NOT moved AND persisted_revision IS NULL AND authority AND phase_running
    AND progress_positive AND checkpoint_advances AS taken
  FROM guarded
),
takes AS (
  UPDATE {schema}.job j SET progress = d.progress, checkpoint_valid = true, checkpoint_revision = j.revision + 1,
    revision = j.revision + 1, user_progress = r.user_progress, losses = 0
  FROM decided d JOIN request r USING (place) WHERE d.taken AND j.job = d.job
),
stored AS (
  INSERT INTO {schema}.checkpoint (job, revision, attempt, token, progress, user_progress, at, state, manifest)
  SELECT d.job, d.revision + 1, d.attempt, d.token, d.progress, r.user_progress, clock.now, r.state, r.manifest
  FROM decided d JOIN request r USING (place) CROSS JOIN clock WHERE d.taken
),
advanced AS (
  UPDATE {schema}.running r SET progress = d.progress FROM decided d WHERE d.taken AND r.attempt = d.attempt
),
forgotten AS (
  DELETE FROM {schema}.checkpoint c USING decided d
  WHERE d.taken AND c.job = d.job AND c.revision <> d.inherited
)
SELECT place, moved, job_exists, authority, phase_running, progress_positive, checkpoint_advances, persisted_revision,
  phase, revision, max_attempts, worker
FROM decided ORDER BY place
