-- deregister: a worker that ends is forgotten. Atomic: the whole.
-- KEYS: all of common.lua. Writes: now; takes from workers, seen, serving.
-- ARGV: 4 worker.
-- Rows: {1, order, 0, 0, 1 when it was known}.
if not arrive('free') then return leave() end

local seen = call('ZSCORE', SEEN, ARGV[4])
local known = seen and tonumber(seen) >= horizon()
forget_worker(ARGV[4])
return leave({before(known and 1 or 0)})
