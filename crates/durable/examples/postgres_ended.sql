-- Fills a schema with jobs that have ended, as their ends left them: one attempt each, every hundred-and-first failed.
-- Writes job, job_spec, attempt, result or attempt_error, ended, ended_count for the jobs {first} to {last} of {schema},
-- and nothing else: neither stages (they were swept) nor checkpoints. Ids are in the order of time, as real ones are.
-- Pages are filled to nine tenths, where real ones end half full: the same rows on fewer pages.
CREATE TEMP TABLE made ON COMMIT DROP AS
SELECT (lpad(to_hex(1700000000000 + n), 12, '0') || '70008000' || lpad(to_hex(n), 12, '0'))::uuid AS job,
  1700000000000 + n AS at, 'kind' || n % 7 AS kind, 'queue' || n % 3 AS queue,
  CASE WHEN n % 101 = 0 THEN 'failed' ELSE 'succeeded' END AS phase
FROM generate_series({first}::bigint, {last}::bigint) n;
ALTER TABLE {schema}.job SET (fillfactor = 90);
INSERT INTO {schema}.job (job, revision, retry_base_ms, retry_cap_ms, created_at, due_at, finished_at, token, max_attempts,
                          priority, phase, kind, queue)
SELECT job, 3, 2000, 300000, at, at, at + 60000, 1, 1, 2, phase, kind, queue FROM made;
ALTER TABLE {schema}.job SET (fillfactor = 45);
INSERT INTO {schema}.job_spec (job, spec)
SELECT job, json_build_object('kind', kind, 'queue', queue, 'priority', 2, 'args', 'null', 'command', NULL,
  'max_attempts', 1, 'scheduled_at', NULL, 'timeout_ms', NULL,
  'retry', json_build_object('base_ms', 2000, 'cap_ms', 300000), 'idempotency_key', NULL)::text
FROM made;
INSERT INTO {schema}.attempt (job, attempt, worker, started_at, ended_at, resumed_from, revision, token, verdict, phase_after)
SELECT job, job, '00000000-0000-7000-8000-000000000001', at, at + 60000, 0, 3, 1,
  CASE phase WHEN 'failed' THEN 'permanent' ELSE phase END, phase
FROM made;
INSERT INTO {schema}.result (job, attempt, at, files, bytes, token, digest, manifest)
SELECT job, job, at + 60000, 1, 1, 1, decode(repeat('07', 32), 'hex'), decode(repeat('07', 100), 'hex')
FROM made WHERE phase = 'succeeded';
INSERT INTO {schema}.attempt_error (job, token, error)
SELECT job, 1, 'the input cannot be read' FROM made WHERE phase = 'failed';
INSERT INTO {schema}.ended (phase, job, at) SELECT phase, job, at + 60000 FROM made;
INSERT INTO {schema}.ended_count (queue, phase, jobs) SELECT queue, phase, count(*) FROM made GROUP BY queue, phase;
