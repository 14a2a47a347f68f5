-- doctor: reads what a person should know of the server.
-- Answers: server, in_recovery, autovacuum, oldest_s (how long the oldest transaction of anybody else has been open, as far
-- as this role may see), size (of all tables of the schema and their indexes, in bytes).
-- $1 the schema's name
SELECT
  current_setting('server_version')              AS server,
  pg_is_in_recovery()                            AS in_recovery,
  current_setting('autovacuum')                  AS autovacuum,
  (SELECT coalesce(extract(epoch FROM max(clock_timestamp() - a.xact_start)), 0)::bigint FROM pg_stat_activity a
   WHERE a.pid <> pg_backend_pid() AND a.backend_xmin IS NOT NULL) AS oldest_s,
  (SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint FROM pg_class c
   JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relkind = 'r') AS size
