-- pool: reads epoch, configuration and what is in use.
-- KEYS: all of common.lua. Writes nothing but what passing time does (the grace).
-- ARGV: as in common.lua.
-- Rows: {open, age of the epoch in ms, grace over, revision, paused, leases, reservations, unaccounted, queued,
--   installation}.
if not arrive('read') then return leave() end
return leave({{pool.open and 1 or 0, pool.now - pool.began, pool.grace and 0 or 1, pool.revision, pool.paused,
  call('ZCARD', DEADLINES), call('ZCARD', RESERVATIONS), call('SCARD', UNACCOUNTED), call('ZCARD', QUEUE),
  call('HGET', EPOCH, 'installation') or ''}})
