-- renew_reservation: workers say that they still mean to use their places. No action of the spec. Atomic: each row.
-- KEYS: all of common.lua. Writes: now, reservations.
-- ARGV: from 4 on, for each row (≤ 64): job, reservation, worker.
-- Rows: {1, order, 0, 0} | {0, order, 0, 'reservation_held'}.
if not arrive('free') then return leave() end

local function one(job, id, worker)
  local held = reservation_of(id)
  if not held or held.job ~= job or held.worker ~= worker then return refused_quietly('reservation_held') end
  renew_place(id)
  return before()
end

local rows = {}
for at = 4, #ARGV, 3 do rows[#rows + 1] = one(ARGV[at], ARGV[at + 1], ARGV[at + 2]) end
return leave(rows)
