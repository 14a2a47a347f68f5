-- register: a worker lives and serves these windows. Four silent workers are forgotten on the way. Atomic: the whole.
-- KEYS: all of common.lua. Writes: order, now, workers, seen, serving.
-- ARGV: 4 worker; 5 its registration (opaque, one line); from 6 on the prefixes that it serves (≤ 1,000).
-- Rows: {1, order, 0, 0, 1 when it serves something else than before, 1 when it was asked to drain}.
if not arrive('free') then return leave() end

forget_silent(4)
local worker, registration = ARGV[4], ARGV[5]
local serves = {}
for at = 6, #ARGV do serves[#serves + 1] = ARGV[at] end
local row = registration .. '\n' .. table.concat(serves, '\n')
local known = call('ZSCORE', SEEN, worker) and call('HGET', WORKERS, worker)
local same = known and serves_of(known) == serves_of(row)
local drain = known and call('HGET', WORKERS, 'drain ' .. worker)
raise()
if not same and known then forget_worker(worker) end
call('HSET', WORKERS, worker, row)
if drain then call('HSET', WORKERS, 'drain ' .. worker, '1') end
if not same then
  for _, prefix in ipairs(serves) do call('ZADD', SERVING, 0, prefix .. worker) end
end
call('ZADD', SEEN, pool.now, worker)
return leave({before(same and 0 or 1, drain and 1 or 0)})
