-- Jobs in `retry_wait` that are due, the longest due first.
-- $1 now (NULL: the server's clock), $2 limit
SELECT job FROM {schema}.retry_wait WHERE due <= {schema}.now_ms($1) ORDER BY due, job LIMIT $2::bigint
