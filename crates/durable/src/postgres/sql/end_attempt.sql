-- What every end of an attempt's authority writes: the part of those statements that follows their decision.
-- Writes job (the end itself), running (the row goes), attempt (the ledger's row, once), attempt_error (the text; those
-- of older attempts go), checkpoint (what only this attempt referred to goes), retry_wait (a row, unless the job ends),
-- stage (its stage is due for one sweep).
-- Rests on `clock`, `request` (place, error) and `decided` (place, job, attempt, token, taken, phase_after,
-- verdict_after, due_after, max_attempts_after, losses_after, exit_code, exit_signal, stopped, revision,
-- checkpoint_revision).
, ended_attempt AS (
  UPDATE {schema}.job j SET
    phase = d.phase_after, attempt = NULL, max_attempts = d.max_attempts_after, losses = d.losses_after,
    due_at = coalesce(d.due_after, j.due_at), checkpoint_valid = j.checkpoint_valid OR d.phase_after = 'succeeded',
    finished_at = CASE WHEN d.phase_after <> 'retry_wait' THEN clock.now END, revision = j.revision + 1
  FROM decided d CROSS JOIN clock WHERE d.taken AND j.job = d.job
),
ran AS (
  DELETE FROM {schema}.running r USING decided d WHERE d.taken AND r.attempt = d.attempt
  RETURNING r.job, r.worker, r.started_at, r.resumed_from
),
ledger AS (
  INSERT INTO {schema}.attempt (job, attempt, token, worker, started_at, ended_at, verdict, exit_code, exit_signal,
                                resumed_from, revision, phase_after, due)
  SELECT d.job, d.attempt, d.token, ran.worker, ran.started_at, clock.now, d.verdict_after, d.exit_code, d.exit_signal,
    ran.resumed_from, d.revision + 1, d.phase_after, d.due_after
  FROM decided d JOIN ran USING (job) CROSS JOIN clock
),
told AS (
  INSERT INTO {schema}.attempt_error (job, token, error)
  SELECT d.job, d.token, r.error FROM decided d JOIN request r USING (place) WHERE d.taken AND r.error IS NOT NULL
),
old_errors AS (
  DELETE FROM {schema}.attempt_error e USING decided d WHERE d.taken AND e.job = d.job AND e.token <= d.token - 20
),
inherited AS (
  DELETE FROM {schema}.checkpoint c USING decided d
  WHERE d.taken AND d.phase_after = 'retry_wait' AND c.job = d.job AND c.revision <> d.checkpoint_revision
),
waits AS (
  INSERT INTO {schema}.retry_wait (due, job)
  SELECT due_after, job FROM decided WHERE taken AND phase_after = 'retry_wait'
),
staged AS (
  INSERT INTO {schema}.stage (job, attempt, token, ended_at, stopped, committed, owed)
  SELECT job, attempt, token, now, stopped, phase_after = 'succeeded', 1 FROM decided CROSS JOIN clock WHERE taken
)
