-- open_epoch: Reserve is served from now on. Atomic: the whole.
-- KEYS: all of common.lua. Writes: order, now, epoch.
-- ARGV: nothing more.
-- Rows: {1, order, 0, 0, 1 when it opened now, older epochs whose keys are still to be deleted}.
if not arrive('free') then return leave() end

if pool.open then return leave({before(0, pool.old)}) end
raise()
call('HSET', EPOCH, 'open', '1')
return leave({before(1, pool.old)})
