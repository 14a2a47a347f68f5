-- $3 how many are looked at before it
ORDER BY s.job DESC
LIMIT 1 OFFSET $3::bigint
