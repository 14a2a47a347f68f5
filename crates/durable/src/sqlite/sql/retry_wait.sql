-- The row of a job in `retry_wait`.
--
--: put
-- :due, :job
INSERT INTO retry_wait (due, job) VALUES (:due, :job)

--: remove
-- :due, :job
DELETE FROM retry_wait WHERE due = :due AND job = :job
