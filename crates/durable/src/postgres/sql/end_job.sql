-- What a job's end writes beside its row: the last part of the statements that can end one. Nothing of it is the
-- spec's state.
-- Writes ended (a row), ended_count (a row), stage (stages of earlier attempts that kept something are due once more,
-- also those whose first sweep is still to come: a sweep judged before the end may be reported after it), checkpoint
-- (the documents go: nobody resumes any more; the rows stay for repeated requests).
-- Rests on `clock` and `decided` (place, job, queue, taken, phase_after).
, ended_job AS MATERIALIZED (
  SELECT job, queue, phase_after, now FROM decided CROSS JOIN clock
  WHERE taken AND phase_after IN ('succeeded', 'failed', 'cancelled') ORDER BY job
),
listed AS (
  INSERT INTO {schema}.ended (phase, job, at) SELECT phase_after, job, now FROM ended_job
),
counted AS (
  INSERT INTO {schema}.ended_count (queue, phase, jobs)
  SELECT queue, phase_after, count(*) FROM ended_job GROUP BY queue, phase_after
),
owed AS (
  UPDATE {schema}.stage s SET owed = s.owed + 1 FROM ended_job e WHERE s.job = e.job
),
dropped AS (
  UPDATE {schema}.checkpoint c SET state = NULL, manifest = NULL FROM ended_job e WHERE c.job = e.job
)
SELECT * FROM decided ORDER BY place
