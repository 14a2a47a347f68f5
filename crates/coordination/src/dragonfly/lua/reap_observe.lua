-- ReapObserve: attempts seen to have neither a live lease nor a reservation of their own worker. Atomic: each row.
-- KEYS: all of common.lua. Writes: order, now.
-- ARGV: from 4 on, for each row (≤ 64): job, attempt, worker, epoch of the claim, 1 when its own worker asks.
-- Rows: {1, order, 1, in_use} | {0, order, 1, 'opening' | 'grace' | 'lease_not_live' | 'reservation_not_held'}.
if not arrive('free') then return leave() end

local function one(job, attempt, worker, claimed, by_holder)
  if not pool.open then return refused('opening') end
  if whole(claimed) ~= pool.number and by_holder ~= '1' and pool.grace then return refused('grace') end
  if lease_of(attempt) then return refused('lease_not_live') end
  local id = job_of(job).reservation
  local held = id and reservation_of(id)
  if held and held.worker == worker then return refused('reservation_not_held') end
  raise()
  return taken()
end

local rows = {}
for at = 4, #ARGV, 5 do
  rows[#rows + 1] = one(ARGV[at], ARGV[at + 1], ARGV[at + 2], ARGV[at + 3], ARGV[at + 4])
end
return leave(rows)
