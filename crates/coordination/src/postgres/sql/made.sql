-- made: which release made what is in this schema; the only logged table, because it must outlive crashes.
-- Answers: version, digest (of all that is made).
SELECT m.version, m.digest FROM {schema}.made m
