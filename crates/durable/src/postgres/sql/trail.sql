-- The trail below a place, newest first.
-- $1 place, $2 at most so many
-- Answers: entries.
SELECT number, id, at, token, who, origin, scope, action, object, outcome FROM {schema}.trail
WHERE number < $1::bigint ORDER BY number DESC LIMIT $2::bigint
