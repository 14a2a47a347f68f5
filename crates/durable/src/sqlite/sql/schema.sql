-- Whose file this is and how far its schema has come.
--
--: identity
-- Answers: application_id, user_version, and how many tables there are.
SELECT
  (SELECT application_id FROM pragma_application_id) AS application_id,
  (SELECT user_version FROM pragma_user_version)     AS user_version,
  (SELECT count(*) FROM sqlite_schema)               AS objects

--: ledger
-- The migrations that were applied.
CREATE TABLE IF NOT EXISTS migration (
  number     INTEGER PRIMARY KEY,
  name       TEXT    NOT NULL,
  checksum   BLOB    NOT NULL,
  applied_at INTEGER NOT NULL
) STRICT

--: applied
-- Answers: the migrations that were applied, in order.
SELECT number, name, checksum FROM migration ORDER BY number

--: record
-- Writes that a migration was applied.
-- :number, :name, :checksum (BLAKE3 of the file), :at
INSERT INTO migration (number, name, checksum, applied_at) VALUES (:number, :name, :checksum, :at)

--: first_pool
-- Writes the pool's row of a new file.
-- :name, :lease_ms, :global_limit
INSERT INTO pool (only, name, epoch, open, lease_ms, global_limit, installation)
VALUES (1, :name, 1, 1, :lease_ms, :global_limit, randomblob(16))
ON CONFLICT (only) DO NOTHING

--: pool_name
-- Answers: the name of the pool in this file.
SELECT name FROM pool
