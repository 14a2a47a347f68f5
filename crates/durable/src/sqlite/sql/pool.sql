-- The pool's epoch and configuration, whose it is and where it publishes.
--
--: read
-- Answers: the pool's row.
SELECT epoch, open, raised_from, raised_by, lease_ms, global_limit, config_revision, revision, installation, target
FROM pool

--: paused
-- Answers: the queues that are paused.
SELECT queue FROM paused_queue ORDER BY queue

--: raise_epoch
-- :from, :to, :by whoever asks
UPDATE pool SET epoch = :to, open = 0, raised_from = :from, raised_by = :by, revision = revision + 1
WHERE epoch = :from AND open

--: open_epoch
-- :epoch
UPDATE pool SET open = 1, revision = revision + 1 WHERE epoch = :epoch AND NOT open

--: configure
-- :global_limit, :lease_ms
UPDATE pool SET global_limit = :global_limit, lease_ms = :lease_ms,
  config_revision = config_revision + 1, revision = revision + 1

--: pause
-- :queue
INSERT INTO paused_queue (queue) VALUES (:queue) ON CONFLICT (queue) DO NOTHING

--: resume
-- :queue
DELETE FROM paused_queue WHERE queue = :queue

--: adopt_target
-- :target
UPDATE pool SET target = :target, revision = revision + 1 WHERE target IS NULL
