-- Submit: accepts jobs. Not an action of the spec, whose `Jobs` are accepted already (`Init`).
-- Writes job, job_spec, outbox, idempotency; nothing for a job that is known by its key or its id. A key or an id that
-- another session is just writing is a unique violation: the statement is run again and finds it.
-- $1 now (NULL: the server's clock). Arrays of one length, no job and no key twice: $2 job, $3 retry_of, $4 kind,
-- $5 queue, $6 priority, $7 max_attempts, $8 retry_base_ms, $9 retry_cap_ms, $10 scheduled_at (or NULL),
-- $11 key (or NULL), $12 words (JSON, or NULL), $13 spec (JSON of the submission)
-- Answers, in order: job (NULL: it is new and was accepted), and of the known one phase, revision, retry_of, spec.
WITH clock AS (SELECT {schema}.now_ms($1) AS now),
request AS MATERIALIZED (
  SELECT * FROM unnest($2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::integer[], $7::integer[], $8::bigint[],
                       $9::bigint[], $10::bigint[], $11::text[], $12::text[], $13::text[])
  WITH ORDINALITY AS r (job, retry_of, kind, queue, priority, max_attempts, retry_base_ms, retry_cap_ms, scheduled_at,
                        key, words, spec, place)
),
known AS MATERIALIZED (
  SELECT r.place, coalesce(k.job, j.job) AS job
  FROM request r
  LEFT JOIN {schema}.idempotency k ON k.key = r.key
  LEFT JOIN {schema}.job j ON j.job = r.job
),
fresh AS MATERIALIZED (
  SELECT r.*, clock.now, greatest(r.scheduled_at, clock.now) AS due
  FROM request r JOIN known USING (place) CROSS JOIN clock
  WHERE known.job IS NULL
),
accepted AS (
  INSERT INTO {schema}.job (job, kind, queue, priority, max_attempts, retry_base_ms, retry_cap_ms, created_at, due_at,
                            retry_of, words)
  SELECT job, kind, queue, priority, max_attempts, retry_base_ms, retry_cap_ms, now, due, retry_of, words
  FROM fresh ORDER BY job
),
asked AS (
  INSERT INTO {schema}.job_spec (job, spec) SELECT job, spec FROM fresh ORDER BY job
),
keyed AS (
  INSERT INTO {schema}.idempotency (key, job) SELECT key, job FROM fresh WHERE key IS NOT NULL ORDER BY key
),
offered AS (
  INSERT INTO {schema}.outbox (job, queue, kind, priority, due, scheduled)
  SELECT job, queue, kind, priority, due, due > now FROM fresh ORDER BY place
)
SELECT k.place, k.job, j.phase, j.revision, j.retry_of, s.spec
FROM known k
LEFT JOIN {schema}.job j ON j.job = k.job
LEFT JOIN {schema}.job_spec s ON s.job = k.job
ORDER BY k.place
