-- What the conformance suite does to a row so that it cannot be decoded: half of its spec is gone.
-- No action; only tests run it.
-- $1 job
UPDATE {schema}.job_spec SET spec = '{"kind":' WHERE job = $1
