-- swept_epoch: the keys of older epochs are deleted. Atomic: the whole.
-- KEYS: all of common.lua. Writes: epoch.
-- ARGV: 4 the older epochs, as open_epoch told them.
-- Rows: none.
if arrive('free') and pool.old == ARGV[4] then call('HDEL', EPOCH, 'old') end
return leave()
