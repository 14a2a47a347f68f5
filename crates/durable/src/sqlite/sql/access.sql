-- Tokens and the trail.
--
--: make_token
-- Writes token, unless its id is known or there are too many.
-- :id, :name, :scopes, :digest, :now, :expires_at, :most
INSERT INTO token (id, name, scopes, digest, created_at, expires_at)
SELECT :id, :name, :scopes, :digest, :now, :expires_at WHERE (SELECT count(*) FROM token) < :most
ON CONFLICT (id) DO NOTHING

--: token
-- Answers: the token of that id.
-- :id
SELECT id, name, scopes, digest, created_at, expires_at, last_used_at FROM token WHERE id = :id

--: tokens
-- Answers: all tokens in the order of their making.
SELECT id, name, scopes, digest, created_at, expires_at, last_used_at FROM token ORDER BY created_at, rowid

--: revoke_token
-- Deletes the token of that id.
-- :id
DELETE FROM token WHERE id = :id

--: token_used
-- Writes token (last_used_at), where the last one is old.
-- :id, :now, :before
UPDATE token SET last_used_at = :now WHERE id = :id AND (last_used_at IS NULL OR last_used_at <= :before)

--: add_to_trail
-- Writes trail, once per id.
-- :id, :now, :token, :who, :origin, :scope, :action, :object, :outcome
-- Answers: number.
INSERT INTO trail (id, at, token, who, origin, scope, action, object, outcome)
VALUES (:id, :now, :token, :who, :origin, :scope, :action, :object, :outcome)
ON CONFLICT (id) DO NOTHING
RETURNING number

--: prune_trail
-- Deletes what is older than the last :kept entries of a scope.
-- :scope, :kept
DELETE FROM trail WHERE scope = :scope AND number <=
  (SELECT number FROM trail WHERE scope = :scope ORDER BY number DESC LIMIT 1 OFFSET :kept)

--: trail
-- Answers: entries below a place, newest first.
-- :before, :limit
SELECT number, id, at, token, who, origin, scope, action, object, outcome FROM trail
WHERE number < :before ORDER BY number DESC LIMIT :limit
