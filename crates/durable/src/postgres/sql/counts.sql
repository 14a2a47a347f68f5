-- Jobs per queue and phase. Those that have not ended are counted where they stand, those that have are added up.
SELECT queue, phase, sum(jobs)::bigint AS jobs FROM (
  SELECT queue, 'queued' AS phase, count(*) AS jobs FROM {schema}.outbox GROUP BY queue
  UNION ALL
  SELECT j.queue, j.phase, count(*) FROM {schema}.running r JOIN {schema}.job j ON j.job = r.job GROUP BY 1, 2
  UNION ALL
  SELECT j.queue, j.phase, count(*) FROM {schema}.retry_wait w JOIN {schema}.job j ON j.job = w.job GROUP BY 1, 2
  UNION ALL
  SELECT queue, phase, sum(jobs)::bigint FROM {schema}.ended_count GROUP BY 1, 2
) c
GROUP BY queue, phase ORDER BY queue, phase
