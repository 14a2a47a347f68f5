-- FinalizeCancel: the attempt of a cancelling job loses its authority; the job is cancelled.
-- Writes job (phase, attempt, finished_at, revision) and what `end_attempt.sql` and `end_job.sql` say, which follow
-- this text in one statement.
-- $1 now (NULL: the server's clock). Arrays of one length, no job twice: $2 job, $3 attempt, $4 stopped (whether the
-- attempt's process is known to be gone)
-- Answers, in order: the guards by name, the row as it was, the ledger's row of this attempt if it has ended, and
--   moved: the job changed while this statement waited for it; nothing was done, ask again.
WITH clock AS (SELECT {schema}.now_ms($1) AS now),
request AS MATERIALIZED (
  SELECT *, NULL::text AS error FROM unnest($2::uuid[], $3::uuid[], $4::boolean[])
  WITH ORDINALITY AS r (job, attempt, stopped, place)
),
locked AS MATERIALIZED (
  SELECT r.place, r.job, r.attempt, r.stopped,
    j.phase, j.revision, j.token, j.max_attempts, j.queue, j.checkpoint_revision, j.losses, j.attempt AS holder
  FROM (SELECT * FROM request ORDER BY job) r
  LEFT JOIN LATERAL (SELECT * FROM {schema}.job WHERE job.job = r.job FOR UPDATE) j ON true
),
guarded AS MATERIALIZED (
  SELECT l.*,
    l.revision IS DISTINCT FROM (SELECT s.revision FROM {schema}.job s WHERE s.job = l.job) AS moved,
    l.revision IS NOT NULL                AS job_exists,
    l.phase = 'cancelling'                AS phase_cancelling,
    coalesce(l.holder = l.attempt, false) AS authority,
    e.verdict, e.revision AS ended_revision, e.phase_after AS ended_phase, e.due AS ended_due
  FROM locked l
  LEFT JOIN {schema}.attempt e ON e.job = l.job AND e.attempt = l.attempt
),
decided AS MATERIALIZED (
  SELECT *, job_exists AND NOT moved AND phase_cancelling AND authority AS taken,
    'cancelled' AS phase_after, 'cancelled' AS verdict_after, NULL::bigint AS due_after,
    max_attempts AS max_attempts_after, losses AS losses_after,
    NULL::integer AS exit_code, NULL::integer AS exit_signal
  FROM guarded
)
