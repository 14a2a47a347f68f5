-- A sweep has visited the stages of ended attempts. Bookkeeping, not the spec's state.
-- Writes stage: where nothing was kept the row goes; else one sweep fewer is owed, the job's end will owe another one,
-- and after it, what was kept then stays: the row goes with the last sweep owed.
-- Arrays of one length, no job twice: $1 job, $2 attempt, $3 kept
-- Answers, in order: the attempt's token and the job's revision, where its stage is there and not the published one.
WITH request AS MATERIALIZED (
  SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::boolean[]) WITH ORDINALITY AS r (job, attempt, kept, place)
),
found AS MATERIALIZED (
  SELECT r.*, s.token, s.committed, s.owed, j.revision, j.finished_at IS NOT NULL AS terminal
  FROM (SELECT * FROM request ORDER BY job, attempt) r
  JOIN LATERAL (
    SELECT * FROM {schema}.stage WHERE stage.job = r.job AND stage.attempt = r.attempt FOR UPDATE
  ) s ON true
  JOIN {schema}.job j ON j.job = r.job
),
kept AS (
  UPDATE {schema}.stage s SET owed = greatest(s.owed - 1, 0) FROM found f
  WHERE f.kept AND NOT (f.terminal AND f.owed <= 1) AND s.job = f.job AND s.attempt = f.attempt
),
gone AS (
  DELETE FROM {schema}.stage s USING found f
  WHERE (NOT f.kept OR f.terminal AND f.owed <= 1) AND s.job = f.job AND s.attempt = f.attempt
)
SELECT r.place, f.token, f.revision FROM request r LEFT JOIN found f ON f.place = r.place AND NOT f.committed
ORDER BY r.place
