-- What every end of an attempt's authority writes beside the job's row, in the same transaction.
--
--: ledger
-- The attempt's row, once.
-- :attempt, :now, :verdict, :exit_code, :exit_signal, :revision, :phase_after, :due
INSERT INTO attempt (job, attempt, token, worker, started_at, ended_at, verdict, exit_code, exit_signal, resumed_from,
                     revision, phase_after, due)
SELECT job, attempt, token, worker, started_at, :now, :verdict, :exit_code, :exit_signal, resumed_from,
       :revision, :phase_after, :due
FROM running WHERE attempt = :attempt

--: forget_running
-- :attempt
DELETE FROM running WHERE attempt = :attempt

--: forget_inherited
-- Checkpoints that only this attempt still referred to.
-- :job
DELETE FROM checkpoint
WHERE job = :job AND revision <> (SELECT checkpoint_revision FROM job WHERE job = :job)

--: error
-- :job, :token, :error
INSERT INTO attempt_error (job, token, error) VALUES (:job, :token, :error)

--: trim_errors
-- :job, :newest_gone (the last token whose text is not kept)
DELETE FROM attempt_error WHERE job = :job AND token <= :newest_gone

--: stage
-- Its stage is due for one sweep.
-- :job, :attempt, :token, :now, :stopped, :committed
INSERT INTO stage (job, attempt, token, ended_at, stopped, committed, owed)
VALUES (:job, :attempt, :token, :now, :stopped, :committed, 1)
