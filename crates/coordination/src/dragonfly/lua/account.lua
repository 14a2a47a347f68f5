-- account: attempts that durable shows running are counted, until their leases come back. Atomic: the whole.
-- KEYS: all of common.lua. Writes: order, now, unaccounted.
-- ARGV: from 4 on the attempts (≤ 64).
-- Rows: {1, order, 0, 0} | {0, order, 0, 'opening'} (the pool is open already).
if not arrive('free') then return leave() end

if pool.open then return leave({refused_quietly('opening')}) end
raise()
for at = 4, #ARGV do
  local known = call('ZSCORE', DEADLINES, ARGV[at]) or call('HGET', GONE, ARGV[at])
  if pool.grace and not known then call('SADD', UNACCOUNTED, ARGV[at]) end
end
return leave({before()})
