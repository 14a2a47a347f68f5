-- AcceptFailure: the attempt failed; the job waits for a retry or has failed. Refused, it is RejectOutcome.
-- Writes job (phase, attempt, max_attempts, losses, due_at, finished_at, revision) and what `end_attempt.sql` and
-- `end_job.sql` say, which follow this text in one statement.
-- $1 now (NULL: the server's clock). Arrays of one length, no job twice: $2 job, $3 attempt, $4 token, $5 cause
-- ('permanent' lowers max_attempts to this token), $6 error, $7 exit_code, $8 exit_signal, $9 chance (0 to 2^64 - 1)
-- Answers, in order: the guards by name, the row as it was, the ledger's row of this attempt if it has ended, what came
-- of it (phase_after, due_after, max_attempts_after), and
--   moved: the job changed while this statement waited for it; nothing was done, ask again.
WITH clock AS (SELECT {schema}.now_ms($1) AS now),
request AS MATERIALIZED (
  SELECT *
  FROM unnest($2::uuid[], $3::uuid[], $4::integer[], $5::text[], $6::text[], $7::integer[], $8::integer[], $9::text[])
  WITH ORDINALITY AS r (job, attempt, token, cause, error, exit_code, exit_signal, chance, place)
),
locked AS MATERIALIZED (
  SELECT r.place, r.job, r.attempt, r.token, r.cause, r.exit_code, r.exit_signal, r.chance,
    j.phase, j.revision, j.max_attempts, j.queue, j.checkpoint_revision, j.retry_base_ms, j.retry_cap_ms,
    j.attempt AS holder, j.token AS current, j.cancel_requested
  FROM (SELECT place, job, attempt, token, cause, exit_code, exit_signal, chance FROM request ORDER BY job) r
  LEFT JOIN LATERAL (SELECT * FROM {schema}.job WHERE job.job = r.job FOR UPDATE) j ON true
),
guarded AS MATERIALIZED (
  SELECT l.*,
    l.revision IS DISTINCT FROM (SELECT s.revision FROM {schema}.job s WHERE s.job = l.job) AS moved,
    l.revision IS NOT NULL                                        AS job_exists,
    coalesce(l.holder = l.attempt, false) AND l.current = l.token AS authority,
    l.phase = 'running'                                           AS phase_running,
    NOT l.cancel_requested                                        AS not_cancel_requested,
    e.verdict, e.revision AS ended_revision, e.phase_after AS ended_phase, e.due AS ended_due,
    CASE l.cause WHEN 'permanent' THEN l.token ELSE l.max_attempts END AS max_attempts_after
  FROM locked l
  LEFT JOIN {schema}.attempt e ON e.job = l.job AND e.attempt = l.attempt AND e.token = l.token
),
decided AS MATERIALIZED (
  SELECT g.*, job_exists AND NOT moved AND authority AND phase_running AND not_cancel_requested AS taken,
    CASE WHEN token < max_attempts_after THEN 'retry_wait' ELSE 'failed' END AS phase_after, cause AS verdict_after,
    CASE WHEN token >= max_attempts_after THEN NULL
         WHEN cause = 'drained' THEN clock.now
         ELSE {schema}.retry_due(clock.now, retry_base_ms, retry_cap_ms, token, chance::numeric) END AS due_after,
    0 AS losses_after, true AS stopped
  FROM guarded g CROSS JOIN clock
)
