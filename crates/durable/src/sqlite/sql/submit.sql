-- Submit: accepts a job. Not an action of the spec, whose `Jobs` are accepted already (`Init`).
-- Writes job, job_spec, outbox, idempotency.
--
--: by_job
-- Answers: the job of that id, if there is one.
-- :job
SELECT j.job, j.phase, j.revision, j.retry_of, s.spec
FROM job j LEFT JOIN job_spec s ON s.job = j.job
WHERE j.job = :job

--: by_key
-- Answers: the job that this idempotency key stands for, if there is one.
-- :key
SELECT j.job, j.phase, j.revision, j.retry_of, s.spec
FROM idempotency k JOIN job j ON j.job = k.job LEFT JOIN job_spec s ON s.job = k.job
WHERE k.key = :key

--: job
-- Writes the job's row, unless the id is known.
-- :job, :kind, :queue, :priority, :max_attempts, :retry_base_ms, :retry_cap_ms, :now, :due,
-- :retry_of (or NULL), :words (JSON, or NULL)
INSERT INTO job (job, kind, queue, priority, phase, max_attempts, retry_base_ms, retry_cap_ms, created_at, due_at,
                 retry_of, words)
VALUES (:job, :kind, :queue, :priority, 'queued', :max_attempts, :retry_base_ms, :retry_cap_ms, :now, :due,
        :retry_of, :words)
ON CONFLICT (job) DO NOTHING

--: spec
-- :job, :spec (JSON of the submission)
INSERT INTO job_spec (job, spec) VALUES (:job, :spec)

--: key
-- :key, :job
INSERT INTO idempotency (key, job) VALUES (:key, :job)
