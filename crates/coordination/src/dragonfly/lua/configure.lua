-- configure: limits, pauses and lease length come into force; an older revision changes nothing. Atomic: the whole.
-- KEYS: all of common.lua. Writes: order, now, epoch; takes silent workers (64 at most) from workers, seen, serving.
-- ARGV: 4 revision; 5 global limit; 6 lease length in ms; 7 paused queues, each with a line feed before and after it.
-- Rows: {1, order, 0, 0, 1 when it came into force}.
if not arrive('free') then return leave() end

if whole(ARGV[4]) <= pool.revision then return leave({before(0)}) end
raise()
-- A longer lease must not bring back who was silent for too long under the shorter one.
forget_silent(64)
call('HSET', EPOCH, 'revision', ARGV[4], 'limit', ARGV[5], 'lease_ms', ARGV[6], 'paused', ARGV[7])
pool.limit, pool.lease_ms = whole(ARGV[5]), whole(ARGV[6])
return leave({before(1)})
