-- The verb `retry`: a job in `retry_wait` is queued now (ScheduleRetry), one set aside is offered again, a failed or
-- cancelled one gives a new job, because a terminal row never changes.
-- Writes job (phase, due_at, retried_by, retried, revision), retry_wait (the row goes), outbox (a row, or the row comes
-- in anew, so that a dispatcher that only looks at what is new sees it); for a new job what `submit.sql` writes.
-- $1 now (NULL: the server's clock). Arrays of one length, no job and no new job twice: $2 job, $3 new_job,
-- $4 unreadable (why what the old job asks for cannot be decoded; NULL where it can), and of the new job $5 kind,
-- $6 queue, $7 priority, $8 max_attempts, $9 retry_base_ms, $10 retry_cap_ms, $11 words (JSON, or NULL), $12 spec
-- Answers, in order: the guards by name, the row as it was, and
--   moved: the job changed while this statement waited for it; nothing was done, ask again.
--   again: this very request has moved this job before, and how.   made: it has made its new job.
--   new_job_known: the new job's id stands for another job.
WITH clock AS (SELECT {schema}.now_ms($1) AS now),
request AS MATERIALIZED (
  SELECT * FROM unnest($2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::text[], $7::integer[], $8::integer[],
                       $9::bigint[], $10::bigint[], $11::text[], $12::text[])
  WITH ORDINALITY AS r (job, new_job, unreadable, kind, queue, priority, max_attempts, retry_base_ms, retry_cap_ms,
                        words, spec, place)
),
locked AS MATERIALIZED (
  SELECT r.place, r.job, r.new_job, r.unreadable, j.phase, j.revision, j.token, j.max_attempts, j.due_at, j.queue,
    j.kind, j.priority, j.finished_at, j.retried_by, j.retried
  FROM (SELECT place, job, new_job, unreadable FROM request ORDER BY job) r
  LEFT JOIN LATERAL (SELECT * FROM {schema}.job WHERE job.job = r.job FOR UPDATE) j ON true
),
guarded AS MATERIALIZED (
  SELECT l.*, clock.now,
    l.revision IS DISTINCT FROM (SELECT s.revision FROM {schema}.job s WHERE s.job = l.job) AS moved,
    l.revision IS NOT NULL                             AS job_exists,
    l.phase <> 'succeeded'                             AS cancellable,
    l.finished_at IS NOT NULL                          AS terminal,
    l.phase = 'retry_wait'                             AS waits,
    o.set_aside IS NOT NULL                            AS aside,
    CASE WHEN l.retried_by = l.new_job THEN l.retried END AS again,
    n.job IS NOT NULL                                  AS new_job_known,
    coalesce(n.retry_of = l.job, false)                AS made
  FROM locked l CROSS JOIN clock
  LEFT JOIN {schema}.outbox o ON o.job = l.job
  LEFT JOIN {schema}.job n ON n.job = l.new_job
),
decided AS MATERIALIZED (
  SELECT *, CASE
    WHEN NOT job_exists OR moved OR again IS NOT NULL OR made OR NOT cancellable THEN NULL
    WHEN waits THEN 'due_now'
    WHEN aside THEN 'offered'
    WHEN terminal AND unreadable IS NULL AND NOT new_job_known THEN 'new_job'
  END AS how
  FROM guarded
),
moves AS (
  UPDATE {schema}.job j SET phase = 'queued', due_at = d.now, retried_by = d.new_job, retried = d.how,
    revision = j.revision + 1
  FROM decided d WHERE d.how IN ('due_now', 'offered') AND j.job = d.job
),
waited AS (
  DELETE FROM {schema}.retry_wait w USING decided d WHERE d.how = 'due_now' AND w.due = d.due_at AND w.job = d.job
),
anew AS (
  UPDATE {schema}.outbox o SET sequence = DEFAULT, due = d.now, scheduled = false, set_aside = NULL
  FROM decided d WHERE d.how = 'offered' AND o.job = d.job
),
accepted AS (
  INSERT INTO {schema}.job (job, kind, queue, priority, max_attempts, retry_base_ms, retry_cap_ms, created_at, due_at,
                            retry_of, words)
  SELECT d.new_job, r.kind, r.queue, r.priority, r.max_attempts, r.retry_base_ms, r.retry_cap_ms, d.now, d.now, d.job,
    r.words
  FROM decided d JOIN request r USING (place) WHERE d.how = 'new_job' ORDER BY d.new_job
),
asked AS (
  INSERT INTO {schema}.job_spec (job, spec)
  SELECT d.new_job, r.spec FROM decided d JOIN request r USING (place) WHERE d.how = 'new_job' ORDER BY d.new_job
),
offered AS (
  INSERT INTO {schema}.outbox (job, queue, kind, priority, due, scheduled)
  SELECT CASE d.how WHEN 'new_job' THEN d.new_job ELSE d.job END, CASE d.how WHEN 'new_job' THEN r.queue ELSE d.queue END,
    CASE d.how WHEN 'new_job' THEN r.kind ELSE d.kind END,
    CASE d.how WHEN 'new_job' THEN r.priority ELSE d.priority END, d.now, false
  FROM decided d JOIN request r USING (place) WHERE d.how IN ('due_now', 'new_job') ORDER BY place
)
SELECT place, moved, job_exists, cancellable, terminal, waits, aside, again, made, new_job_known, how, phase, revision,
  token, max_attempts
FROM decided ORDER BY place
