-- Deletes what is older than the last entries of a scope. Deletes from trail.
-- $1 scope, $2 how many are kept
DELETE FROM {schema}.trail WHERE scope = $1::text AND number <=
  (SELECT number FROM {schema}.trail WHERE scope = $1::text ORDER BY number DESC LIMIT 1 OFFSET $2::bigint)
