-- Ends by minute and phase, from the newest back.
-- $1 since, $2 rows looked at, at most
SELECT at / 60000 AS minute, phase, count(*)::bigint AS jobs FROM (
  SELECT at, phase FROM {schema}.ended WHERE at >= $1::bigint ORDER BY at DESC LIMIT $2::bigint
) e
GROUP BY 1, 2 ORDER BY 1, 2
