-- Answers: which process of the server speaks to us.
SELECT pg_backend_pid() AS pid
