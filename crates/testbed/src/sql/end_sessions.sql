-- Ends every session of clients but this one, as an operator or a failover does.
-- Answers: how many.
SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()
