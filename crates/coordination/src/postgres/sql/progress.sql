-- progress: reads what jobs say of themselves. Locks nothing.
-- Answers: for each job, in their order, attempt and what it says, or nothing.
-- $1 the pool's name, $2 jobs
SELECT l.attempt, l.said
FROM unnest($2::uuid[]) WITH ORDINALITY AS j (job, place)
LEFT JOIN (
  SELECT l.job, l.attempt, l.said FROM {schema}.pool p
  JOIN {schema}.lease l ON l.pool = p.number
  WHERE p.name = $1 AND p.home = p.tableoid AND l.job = ANY ($2) AND l.shown AND l.said IS NOT NULL) l ON l.job = j.job
ORDER BY j.place
