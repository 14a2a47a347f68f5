-- The store's clock, and the earliest time after it at which a retry or a scheduled job falls due; NULL for none.
-- $1 now (NULL: the server's clock)
SELECT {schema}.now_ms($1) AS now, least(
  (SELECT due FROM {schema}.retry_wait WHERE due > {schema}.now_ms($1) ORDER BY due LIMIT 1),
  (SELECT due FROM {schema}.outbox WHERE scheduled AND set_aside IS NULL AND due > {schema}.now_ms($1)
   ORDER BY due LIMIT 1)) AS at
