-- Whose schema this is and how far it has come.
--
--: lock
-- One migrator at a time, for as long as its transaction lasts.
SELECT pg_advisory_xact_lock(hashtextextended('remora ' || $1, 0))

--: identity
-- Answers: whether the schema is there, whether its ledger is, what else is in it, the server's encoding and version.
-- $1 the schema's name
SELECT
  n.oid IS NOT NULL                                                                         AS exists,
  (SELECT count(*) FROM pg_class c WHERE c.relnamespace = n.oid AND c.relname = 'migration') AS ledger,
  (SELECT count(*) FROM pg_class c WHERE c.relnamespace = n.oid)                             AS objects,
  pg_encoding_to_char((SELECT encoding FROM pg_database WHERE datname = current_database())) AS encoding,
  current_setting('server_version_num')::integer                                             AS server,
  current_setting('default_transaction_isolation')                                           AS isolation
FROM (SELECT 1) one LEFT JOIN pg_namespace n ON n.nspname = $1

--: make
-- Writes the schema and the ledger of what was applied.
CREATE SCHEMA IF NOT EXISTS {schema};
CREATE TABLE IF NOT EXISTS {schema}.migration (
  number     integer PRIMARY KEY,
  name       text    NOT NULL,
  checksum   bytea   NOT NULL,
  applied_at timestamptz NOT NULL DEFAULT now()
);

--: applied
-- Answers: the migrations that were applied, in order.
SELECT number, name, checksum FROM {schema}.migration ORDER BY number

--: record
-- Writes that a migration was applied.
-- $1 number, $2 name, $3 checksum (BLAKE3 of the file)
INSERT INTO {schema}.migration (number, name, checksum) VALUES ($1, $2, $3)

--: first_pool
-- Writes the pool's row of a new schema.
-- $1 name, $2 lease_ms, $3 global_limit
INSERT INTO {schema}.pool (name, lease_ms, global_limit) VALUES ($1, $2, $3) ON CONFLICT (single) DO NOTHING

--: pool_name
-- Answers: the name of the pool in this schema.
SELECT name FROM {schema}.pool

--: drop
-- Removes the schema with everything in it.
DROP SCHEMA IF EXISTS {schema} CASCADE
