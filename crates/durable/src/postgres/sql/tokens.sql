-- All tokens in the order of their making, and the moment.
-- $1 the time, where it is not the server's
-- Answers: one row a token; one row with NULLs where there is none.
SELECT {schema}.now_ms($1::bigint) AS now, t.id, t.name, t.scopes, t.digest, t.created_at, t.expires_at, t.last_used_at
FROM (SELECT 1) one LEFT JOIN {schema}.token t ON true
ORDER BY t.created_at, t.id
