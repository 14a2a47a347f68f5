-- Makes a token known, unless its id is or there are too many; two at once may go one above.
-- Writes token.
-- $1 the time, where it is not the server's; $2 id, $3 name, $4 scopes, $5 digest, as an array of one; $6 how long it is
-- good for in milliseconds, or NULL; $7 how many there may be
-- Answers: the token of that id, if there is one.
WITH made AS (
  INSERT INTO {schema}.token (id, name, scopes, digest, created_at, expires_at)
  SELECT $2::text, $3::text, $4::text, ($5::bytea[])[1], {schema}.now_ms($1::bigint),
    CASE WHEN $6::bigint IS NOT NULL THEN least({schema}.now_ms($1::bigint) + $6::bigint, 253402300799999) END
  WHERE (SELECT count(*) FROM {schema}.token) < $7::bigint
  ON CONFLICT (id) DO NOTHING
  RETURNING *
)
SELECT id, name, scopes, digest, created_at, expires_at, last_used_at FROM made
UNION ALL
SELECT id, name, scopes, digest, created_at, expires_at, last_used_at FROM {schema}.token WHERE id = $2::text
