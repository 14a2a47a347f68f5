-- ReapLostAttempt: the authority of an attempt that was judged lost is revoked. Its process may go on; what it
-- writes reaches nobody.
-- Writes job (phase, attempt, losses, due_at, finished_at, revision) and what `end_attempt.sql` and `end_job.sql` say,
-- which follow this text in one statement.
-- $1 now (NULL: the server's clock). Arrays of one length, no job twice: $2 job, $3 attempt, $4 token, $5 error,
-- $6 chance (0 to 2^64 - 1), $7 base_ms, $8 cap_ms (one number each: the delay after a loss)
-- Answers, in order: the guards by name, the row as it was, the ledger's row of this attempt if it has ended, what came
-- of it (phase_after, due_after), and
--   moved: the job changed while this statement waited for it; nothing was done, ask again.
WITH clock AS (SELECT {schema}.now_ms($1) AS now),
request AS MATERIALIZED (
  SELECT * FROM unnest($2::uuid[], $3::uuid[], $4::integer[], $5::text[], $6::text[])
  WITH ORDINALITY AS r (job, attempt, token, error, chance, place)
),
locked AS MATERIALIZED (
  SELECT r.place, r.job, r.attempt, r.token, r.chance,
    j.phase, j.revision, j.max_attempts, j.queue, j.checkpoint_revision, j.losses,
    j.attempt AS holder, j.token AS current
  FROM (SELECT place, job, attempt, token, chance FROM request ORDER BY job) r
  LEFT JOIN LATERAL (SELECT * FROM {schema}.job WHERE job.job = r.job FOR UPDATE) j ON true
),
guarded AS MATERIALIZED (
  SELECT l.*,
    l.revision IS DISTINCT FROM (SELECT s.revision FROM {schema}.job s WHERE s.job = l.job) AS moved,
    l.revision IS NOT NULL                                        AS job_exists,
    coalesce(l.holder = l.attempt, false) AND l.current = l.token AS authority,
    l.phase = 'running'                                           AS phase_running,
    e.verdict, e.revision AS ended_revision, e.phase_after AS ended_phase, e.due AS ended_due
  FROM locked l
  LEFT JOIN {schema}.attempt e ON e.job = l.job AND e.attempt = l.attempt AND e.token = l.token
),
decided AS MATERIALIZED (
  SELECT g.*, job_exists AND NOT moved AND authority AND phase_running AS taken,
    CASE WHEN token < max_attempts THEN 'retry_wait' ELSE 'failed' END AS phase_after, 'lost' AS verdict_after,
    CASE WHEN token < max_attempts
         THEN {schema}.retry_due(clock.now, $7, $8, losses + 1, chance::numeric) END AS due_after,
    max_attempts AS max_attempts_after, losses + 1 AS losses_after, false AS stopped,
    NULL::integer AS exit_code, NULL::integer AS exit_signal
  FROM guarded g CROSS JOIN clock
)
