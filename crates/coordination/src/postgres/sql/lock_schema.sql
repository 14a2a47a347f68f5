-- lock_schema: one maker at a time, for as long as its transaction lasts.
-- $1 the schema's name
SELECT pg_advisory_xact_lock(hashtextextended('remora coordination ' || $1, 0))
