-- What conformance suites do to rows. No action; only tests run it.
--
--: spec
-- So that the row cannot be decoded: half of its spec is gone.
-- :job
UPDATE job_spec SET spec = '{"kind":' WHERE job = :job
--: outbox
-- So that nobody offers it.
-- :job
DELETE FROM outbox WHERE job = :job
--: running
-- So that its attempt has no authority, and no end either.
-- :job
DELETE FROM running WHERE job = :job
