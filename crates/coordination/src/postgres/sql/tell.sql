-- tell: passes wake-ups on. A statement, and so a transaction, of its own: nobody who decides anything waits for it.
-- $1 channel, $2 what is told
SELECT pg_notify($1, $2)
