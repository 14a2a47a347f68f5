-- ReleaseReservation: places that nobody will use are taken back; only the exact reservation judged. Atomic: each row.
-- KEYS: all of common.lua. Writes: order, now, ended; takes from reservations, places, jobs, held.
-- ARGV: from 4 on, for each row (≤ 64): job, reservation.
-- Rows: {1, order, recorded, in_use, worker or ''} | {0, order, 1, 'reservation_held', worker or ''}.
if not arrive('free') then return leave() end

local function one(job, id)
  local held = reservation_of(id)
  local ending = ending_of(id)
  if ending and ending.how == 'r' and ending.job == job then return before('') end
  if not held or held.job ~= job then return refused('reservation_held', held and held.worker or '') end
  raise()
  end_reservation(held, 'r')
  return taken(held.worker)
end

local rows = {}
for at = 4, #ARGV, 2 do rows[#rows + 1] = one(ARGV[at], ARGV[at + 1]) end
return leave(rows)
