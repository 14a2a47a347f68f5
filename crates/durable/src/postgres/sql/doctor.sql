-- What `doctor` asks the server: what weakens the promise, and whether this role can do the daily work.
-- $1 the schema's name
SELECT
  current_setting('server_version')                        AS server_version,
  current_setting('synchronous_commit')                    AS synchronous_commit,
  current_setting('fsync')                                 AS fsync,
  current_setting('full_page_writes')                      AS full_page_writes,
  current_setting('transaction_read_only')                 AS read_only,
  current_setting('transaction_isolation')                 AS isolation,
  current_setting('statement_timeout')                     AS statement_timeout,
  pg_is_in_recovery()                                      AS in_recovery,
  (extract(epoch FROM clock_timestamp()) * 1000)::bigint   AS now,
  (SELECT count(*) FROM pg_class c
   WHERE c.relnamespace = n.oid AND c.relkind = 'r' AND c.relname NOT IN ('migration', 'pool')
     AND NOT (has_table_privilege(c.oid, 'SELECT') AND has_table_privilege(c.oid, 'INSERT')
              AND has_table_privilege(c.oid, 'UPDATE') AND has_table_privilege(c.oid, 'DELETE'))) AS closed_tables,
  has_schema_privilege(n.oid, 'USAGE')                     AS may_use
FROM pg_namespace n WHERE n.nspname = $1
