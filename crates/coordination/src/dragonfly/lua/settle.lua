-- settle: attempts ended, so they leave the set of those unaccounted for. No action of the spec. Atomic: each row.
-- KEYS: all of common.lua. Writes: order, now, gone (in the grace); takes from unaccounted.
-- ARGV: from 4 on, for each row (≤ 64): attempt.
-- Rows: {1, order, 1, 0, 1 when a place became free}.
if not arrive('free') then return leave() end

local rows = {}
for at = 4, #ARGV do
  raise()
  rows[#rows + 1] = {1, pool.order, 1, 0, end_stay(ARGV[at], 'seen') and 1 or 0}
end
return leave(rows)
