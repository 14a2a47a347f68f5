-- AuthorizeAttempt: the claim. One statement; the linearization point of an attempt's authority.
-- Writes job (phase, token, attempt, revision), running (a row), outbox (the row goes, or is set aside).
-- $1 now (NULL: the server's clock). Arrays of one length, no job and no attempt twice: $2 job, $3 attempt, $4 worker,
-- $5 reservation, $6 epoch, $7 checkpoint_revision (the one that the worker has verified; 0 for none),
-- $8 unreadable (why what the claim gives cannot be decoded; NULL where it can)
-- Answers, in order: the guards by name, the row as it was, and
--   moved: the job changed while this statement waited for it; nothing was done, ask again.
--   already_yours: this very attempt has authority; claimed_…: the answer it was given.
--   lost: it has not had and lost it.
WITH clock AS (SELECT {schema}.now_ms($1) AS now),
request AS MATERIALIZED (
  SELECT * FROM unnest($2::uuid[], $3::uuid[], $4::uuid[], $5::uuid[], $6::bigint[], $7::bigint[], $8::text[])
  WITH ORDINALITY AS r (job, attempt, worker, reservation, epoch, named_revision, unreadable, place)
),
locked AS MATERIALIZED (
  SELECT r.*, j.phase, j.revision, j.token, j.max_attempts, j.attempt AS holder,
    CASE WHEN j.checkpoint_valid THEN j.checkpoint_revision ELSE 0 END AS checkpoint_revision,
    CASE WHEN j.checkpoint_valid THEN j.progress ELSE 0 END            AS progress
  FROM (SELECT * FROM request ORDER BY job) r
  LEFT JOIN LATERAL (SELECT * FROM {schema}.job WHERE job.job = r.job FOR UPDATE) j ON true
),
guarded AS MATERIALIZED (
  SELECT l.*,
    l.revision IS DISTINCT FROM (SELECT s.revision FROM {schema}.job s WHERE s.job = l.job) AS moved,
    l.revision IS NOT NULL                                                     AS job_exists,
    coalesce(l.holder = l.attempt, false)                                      AS already_yours,
    NOT EXISTS (SELECT FROM {schema}.attempt e WHERE e.job = l.job AND e.attempt = l.attempt) AS lost,
    r.attempt IS NULL                                                          AS attempt_unused,
    o.set_aside IS NULL                                                        AS not_set_aside,
    l.phase = 'queued'                                                         AS phase_queued,
    o.job IS NOT NULL                                                          AS dispatch_needed,
    l.token < l.max_attempts                                                   AS attempts_left,
    l.checkpoint_revision = l.named_revision                                   AS checkpoint_changed,
    r.token AS claimed_token, r.revision AS claimed_revision, r.checkpoint_revision AS claimed_checkpoint_revision
  FROM locked l
  LEFT JOIN {schema}.outbox o ON o.job = l.job
  LEFT JOIN {schema}.running r ON r.attempt = l.attempt
),
decided AS MATERIALIZED (
  SELECT *, job_exists AND NOT moved AND lost AND attempt_unused AND not_set_aside AND phase_queued
    AND dispatch_needed AND attempts_left AND checkpoint_changed AS open
  FROM guarded
),
taken AS (
  UPDATE {schema}.job j SET phase = 'running', token = j.token + 1, attempt = d.attempt, revision = j.revision + 1
  FROM decided d WHERE d.open AND d.unreadable IS NULL AND j.job = d.job
),
runs AS (
  INSERT INTO {schema}.running (attempt, job, token, worker, reservation, epoch, started_at, checkpoint_revision,
                                resumed_from, progress, revision)
  SELECT attempt, job, token + 1, worker, reservation, epoch, now, checkpoint_revision, progress, progress, revision + 1
  FROM decided CROSS JOIN clock WHERE open AND unreadable IS NULL ORDER BY attempt
),
gone AS (
  DELETE FROM {schema}.outbox o USING decided d WHERE d.open AND d.unreadable IS NULL AND o.job = d.job
),
aside AS (
  UPDATE {schema}.outbox o SET set_aside = d.unreadable FROM decided d
  WHERE d.open AND d.unreadable IS NOT NULL AND o.job = d.job
)
SELECT place, moved, job_exists, already_yours, lost, attempt_unused, not_set_aside, phase_queued, dispatch_needed,
  attempts_left, checkpoint_changed, phase, revision, token, max_attempts, progress, claimed_token, claimed_revision,
  claimed_checkpoint_revision
FROM decided ORDER BY place
