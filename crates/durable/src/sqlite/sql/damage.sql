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
--: manifest
-- The manifest of the job's last checkpoint.
-- :job
SELECT manifest FROM checkpoint WHERE job = :job ORDER BY revision DESC LIMIT 1
--: put_manifest
-- As if another release had stored it.
-- :job :manifest
UPDATE checkpoint SET manifest = :manifest
WHERE job = :job AND revision = (SELECT max(revision) FROM checkpoint WHERE job = :job)
