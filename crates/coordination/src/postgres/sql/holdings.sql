-- holdings: reads what is held of jobs beside their entries, a page in the order of their ids, at one moment. Locks nothing.
-- Answers: epoch, revision; more (jobs after the page); for each job and each of its leases (in the order of their
-- beginnings) job, notice, progress, reservation, holder; attempt, worker, token, age_ms. One row without a job when
-- nothing is held; none when the store is empty.
-- $1 the pool's name, $2 now in ms (null: the server's clock), $3 the job before the page (null: from the first on), $4 how
-- many jobs
WITH here AS (
  SELECT p.* FROM {schema}.pool p WHERE p.name = $1 AND p.home = p.tableoid AND p.epoch > 0
), held AS (
  (SELECT l.job FROM here p JOIN {schema}.lease l ON l.pool = p.number AND ($3 IS NULL OR l.job > $3)
   ORDER BY l.pool, l.job LIMIT $4 + 1)
  UNION
  (SELECT r.job FROM here p JOIN {schema}.reservation r ON r.pool = p.number AND ($3 IS NULL OR r.job > $3)
   ORDER BY r.pool, r.job LIMIT $4 + 1)
  UNION
  (SELECT n.job FROM here p JOIN {schema}.notice n ON n.pool = p.number AND ($3 IS NULL OR n.job > $3)
   ORDER BY n.pool, n.job LIMIT $4 + 1)
), page AS (
  SELECT h.job FROM held h ORDER BY h.job LIMIT $4
)
SELECT
  p.epoch, p.revision, (SELECT count(*) FROM held) > (SELECT count(*) FROM page) AS more, g.job,
  EXISTS (SELECT FROM {schema}.notice n WHERE n.pool = p.number AND n.job = g.job)             AS notice,
  EXISTS (SELECT FROM {schema}.lease s WHERE s.pool = p.number AND s.job = g.job AND s.shown) AS progress,
  r.id AS reservation, r.worker AS holder, l.attempt, l.worker, l.token,
  greatest(p.now_ms, coalesce($2, (date_part('epoch', clock_timestamp()) * 1000)::bigint)) - l.renewed_ms AS age_ms
FROM here p
LEFT JOIN page g ON true
LEFT JOIN {schema}.reservation r ON r.pool = p.number AND r.job = g.job
LEFT JOIN {schema}.lease l ON l.pool = p.number AND l.job = g.job
ORDER BY g.job, l.born
