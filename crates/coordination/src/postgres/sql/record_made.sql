-- record_made: writes which release made what is in this schema.
-- $1 version, $2 digest
WITH gone AS (DELETE FROM {schema}.made)
INSERT INTO {schema}.made (version, digest) VALUES ($1, $2)
