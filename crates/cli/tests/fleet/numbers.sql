-- What there is, counted: `what|key|count` a line, for the comparison with what is shown.
SELECT 'jobs', phase, count(*) FROM remora.job GROUP BY 2
UNION ALL
SELECT 'queues', queue || ' ' || phase, count(*) FROM remora.job GROUP BY 2
UNION ALL
SELECT 'unfinished', queue || ' ' || phase, count(*) FROM remora.job WHERE finished_at IS NULL GROUP BY 2
UNION ALL
SELECT 'tokens', phase, sum(token) FROM remora.job GROUP BY 2
UNION ALL
SELECT 'ends', phase, count(*) FROM remora.job WHERE finished_at > extract(epoch FROM now()) * 1000 - 3600000 GROUP BY 2
UNION ALL
SELECT 'running', 'attempts', count(*) FROM remora.running
