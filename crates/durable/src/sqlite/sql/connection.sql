-- How connections are set up, and the transactions of the writer.
--
--: writer
-- The one connection that writes. FULL: a commit is on the disk before it is answered.
PRAGMA journal_mode = WAL;
PRAGMA synchronous = FULL;
PRAGMA foreign_keys = ON;
PRAGMA trusted_schema = OFF;
PRAGMA wal_autocheckpoint = 1000;
PRAGMA journal_size_limit = 67108864;
PRAGMA cache_size = -65536;
PRAGMA temp_store = MEMORY;

--: reader
-- A connection that only reads. Each read is one snapshot.
PRAGMA query_only = ON;
PRAGMA trusted_schema = OFF;
PRAGMA cache_size = -16384;
PRAGMA temp_store = MEMORY;

--: empty_log
-- Waits for nobody: what readers still need stays.
PRAGMA wal_checkpoint(PASSIVE)

--: begin
BEGIN IMMEDIATE

--: begin_exclusive
BEGIN EXCLUSIVE

--: begin_snapshot
BEGIN DEFERRED

--: commit
COMMIT

--: rollback
ROLLBACK

--: savepoint
SAVEPOINT one_row

--: release
RELEASE one_row

--: rollback_to
ROLLBACK TO one_row
