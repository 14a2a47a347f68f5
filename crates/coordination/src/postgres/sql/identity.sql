-- identity: what is there.
-- Answers: whether the schema is there, whether its `made` is, what else is in it, the server's encoding and version, and
-- how transactions are isolated by default.
-- $1 the schema's name
SELECT
  n.oid IS NOT NULL                                                                          AS exists,
  EXISTS (SELECT FROM pg_class c WHERE c.relnamespace = n.oid AND c.relname = 'made')        AS made,
  (SELECT count(*) FROM pg_class c WHERE c.relnamespace = n.oid)                             AS objects,
  pg_encoding_to_char((SELECT encoding FROM pg_database WHERE datname = current_database())) AS encoding,
  current_setting('server_version_num')::integer                                             AS server,
  current_setting('default_transaction_isolation')                                           AS isolation
FROM (SELECT 1) one LEFT JOIN pg_namespace n ON n.nspname = $1
