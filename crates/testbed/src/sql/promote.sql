-- Makes this standby a server of its own.
-- Answers: whether it became one within a minute.
SELECT pg_promote(true, 60)
