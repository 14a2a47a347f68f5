-- Adds entries to the trail, once each. Writes trail.
-- $1 the time, where it is not the server's; then arrays: $2 id, $3 token, $4 who, $5 origin, $6 scope, $7 action,
-- $8 object, $9 outcome
-- Answers: number, of each that was added.
INSERT INTO {schema}.trail (id, at, token, who, origin, scope, action, object, outcome)
SELECT id, {schema}.now_ms($1::bigint), token, who, origin, scope, action, object, outcome
FROM unnest($2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[])
  WITH ORDINALITY AS entry (id, token, who, origin, scope, action, object, outcome, place)
ORDER BY place
ON CONFLICT (id) DO NOTHING
RETURNING number
