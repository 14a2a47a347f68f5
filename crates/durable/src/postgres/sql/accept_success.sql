-- AcceptSuccess: the one compare-and-swap that publishes. Refused, it is RejectOutcome.
-- Writes job (phase, attempt, checkpoint_valid, losses, finished_at, revision), result (a row), and what
-- `end_attempt.sql` and `end_job.sql` say, which follow this text in one statement.
-- $1 now (NULL: the server's clock). Arrays of one length, no job twice: $2 job, $3 attempt, $4 token, $5 files,
-- $6 bytes, $7 digest, $8 manifest
-- Answers, in order: the guards by name, the row as it was, the ledger's row of this attempt if it has ended, and
--   moved: the job changed while this statement waited for it; nothing was done, ask again.
WITH clock AS (SELECT {schema}.now_ms($1) AS now),
request AS MATERIALIZED (
  SELECT *, NULL::text AS error
  FROM unnest($2::uuid[], $3::uuid[], $4::integer[], $5::bigint[], $6::bigint[], $7::bytea[], $8::bytea[])
  WITH ORDINALITY AS r (job, attempt, token, files, bytes, digest, manifest, place)
),
locked AS MATERIALIZED (
  SELECT r.place, r.job, r.attempt, r.token, j.phase, j.revision, j.max_attempts, j.queue, j.checkpoint_revision,
    j.attempt AS holder, j.token AS current, j.cancel_requested
  FROM (SELECT place, job, attempt, token FROM request ORDER BY job) r
  LEFT JOIN LATERAL (SELECT * FROM {schema}.job WHERE job.job = r.job FOR UPDATE) j ON true
),
guarded AS MATERIALIZED (
  SELECT l.*,
    l.revision IS DISTINCT FROM (SELECT s.revision FROM {schema}.job s WHERE s.job = l.job) AS moved,
    l.revision IS NOT NULL                                        AS job_exists,
    coalesce(l.holder = l.attempt, false) AND l.current = l.token AS authority,
    l.phase = 'running'                                           AS phase_running,
    NOT l.cancel_requested                                        AS not_cancel_requested,
    e.verdict, e.revision AS ended_revision, e.phase_after AS ended_phase, e.due AS ended_due
  FROM locked l
  LEFT JOIN {schema}.attempt e ON e.job = l.job AND e.attempt = l.attempt AND e.token = l.token
),
decided AS MATERIALIZED (
  SELECT *, job_exists AND NOT moved AND authority AND phase_running AND not_cancel_requested AS taken,
    'succeeded' AS phase_after, 'succeeded' AS verdict_after, NULL::bigint AS due_after,
    max_attempts AS max_attempts_after, 0 AS losses_after, true AS stopped,
    NULL::integer AS exit_code, NULL::integer AS exit_signal
  FROM guarded
),
published AS (
  INSERT INTO {schema}.result (job, attempt, token, at, files, bytes, digest, manifest)
  SELECT d.job, d.attempt, d.token, clock.now, r.files, r.bytes, r.digest, r.manifest
  FROM decided d JOIN request r USING (place) CROSS JOIN clock WHERE d.taken
)
