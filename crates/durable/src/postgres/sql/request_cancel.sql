-- RequestCancel: from here on nothing of the job will be published.
-- Writes job (phase, cancel_requested, finished_at, revision), outbox or retry_wait (the row goes), running (since
-- when), and, when the job ends at once, what `end_job.sql` says, which follows this text in one statement.
-- $1 now (NULL: the server's clock), $2 job (an array without repetition)
-- Answers, in order: the guards by name, the row as it was, phase_after, and
--   moved: the job changed while this statement waited for it; nothing was done, ask again.
--   already: a cancel stands.
WITH clock AS (SELECT {schema}.now_ms($1) AS now),
locked AS MATERIALIZED (
  SELECT r.place, r.job, j.phase, j.revision, j.token, j.max_attempts, j.due_at, j.queue, j.attempt
  FROM (SELECT * FROM unnest($2::uuid[]) WITH ORDINALITY AS r (job, place) ORDER BY job) r
  LEFT JOIN LATERAL (SELECT * FROM {schema}.job WHERE job.job = r.job FOR UPDATE) j ON true
),
guarded AS MATERIALIZED (
  SELECT l.*,
    l.revision IS DISTINCT FROM (SELECT s.revision FROM {schema}.job s WHERE s.job = l.job) AS moved,
    l.revision IS NOT NULL                         AS job_exists,
    l.phase IN ('queued', 'running', 'retry_wait') AS cancellable,
    l.phase IN ('cancelling', 'cancelled')         AS already
  FROM locked l
),
decided AS MATERIALIZED (
  SELECT *, job_exists AND NOT moved AND cancellable AS taken,
    CASE phase WHEN 'running' THEN 'cancelling' ELSE 'cancelled' END AS phase_after
  FROM guarded
),
asked AS (
  UPDATE {schema}.job j SET phase = d.phase_after, cancel_requested = true, revision = j.revision + 1,
    finished_at = CASE d.phase_after WHEN 'cancelled' THEN clock.now END
  FROM decided d CROSS JOIN clock WHERE d.taken AND j.job = d.job
),
told AS (
  UPDATE {schema}.running r SET cancel_requested_at = clock.now
  FROM decided d CROSS JOIN clock WHERE d.taken AND r.attempt = d.attempt
),
offered AS (
  DELETE FROM {schema}.outbox o USING decided d WHERE d.taken AND d.phase = 'queued' AND o.job = d.job
),
waited AS (
  DELETE FROM {schema}.retry_wait w USING decided d
  WHERE d.taken AND d.phase = 'retry_wait' AND w.due = d.due_at AND w.job = d.job
)
