-- Adds up rows of ended_count, so that their sum stays cheap. Bookkeeping; whoever comes second leaves them alone.
-- $1 how many rows must have come together for it to be worth the while
WITH many AS (SELECT count(*) >= $1::bigint AS enough FROM (SELECT FROM {schema}.ended_count LIMIT $1::bigint) c),
chosen AS MATERIALIZED (
  SELECT ctid FROM {schema}.ended_count WHERE (SELECT enough FROM many) FOR UPDATE SKIP LOCKED
),
gone AS (
  DELETE FROM {schema}.ended_count c USING chosen WHERE c.ctid = chosen.ctid RETURNING c.queue, c.phase, c.jobs
)
INSERT INTO {schema}.ended_count (queue, phase, jobs) SELECT queue, phase, sum(jobs)::bigint FROM gone GROUP BY 1, 2
