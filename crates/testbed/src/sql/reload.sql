-- Makes the server read its settings again.
-- Answers: whether it was told to.
SELECT pg_reload_conf()
