-- The outbox's row: what an action does to `dispatchNeeded`.
--
--: put
-- dispatchNeeded' = TRUE: a row for the job, at the end of its window among those of the same due time.
-- :job, :due, :now
INSERT INTO outbox (job, queue, kind, priority, due, scheduled)
SELECT job, queue, kind, priority, :due, :due > :now FROM job WHERE job = :job

--: remove
-- dispatchNeeded' = FALSE.
-- :job
DELETE FROM outbox WHERE job = :job

--: set_aside
-- The row stays, with a reason, and is not offered until `retry` or `cancel`.
-- :job, :reason
UPDATE outbox SET set_aside = :reason WHERE job = :job
