-- request_drain: a worker is asked to drain, which its next registration is answered. Atomic: the whole.
-- KEYS: all of common.lua. Writes: now, workers.
-- ARGV: 4 worker.
-- Rows: {1, order, 0, 0, 1 when it is known}.
if not arrive('free') then return leave() end

local seen = call('ZSCORE', SEEN, ARGV[4])
local known = seen and tonumber(seen) >= horizon()
if known then call('HSET', WORKERS, 'drain ' .. ARGV[4], '1') end
return leave({before(known and 1 or 0)})
