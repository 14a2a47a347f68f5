-- Makes a token unknown. Deletes from token.
-- $1 id
-- Answers: its id, if it was known.
DELETE FROM {schema}.token WHERE id = $1::text RETURNING id
