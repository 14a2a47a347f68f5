-- Writes down that tokens were used, where the last time is old.
-- Writes token (last_used_at).
-- $1 the time, where it is not the server's; $2 ids, $3 how old, in milliseconds
UPDATE {schema}.token SET last_used_at = {schema}.now_ms($1::bigint)
WHERE id = ANY ($2::text[])
  AND (last_used_at IS NULL OR last_used_at <= {schema}.now_ms($1::bigint) - $3::bigint)
