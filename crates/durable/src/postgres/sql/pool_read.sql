-- The pool's epoch and configuration. Answers: its row.
SELECT epoch, open, raised_from, raised_by, lease_ms, global_limit, paused, config_revision, revision, installation, target
FROM {schema}.pool
