-- ClaimRefused: workers hand reservations back. Atomic: each row.
-- KEYS: all of common.lua. Takes from reservations, places, jobs, held; writes order, now, ended.
-- ARGV: from 4 on, for each row (≤ 64): job, reservation, worker.
-- Rows: {1, order, recorded, in_use} | {0, order, 1, 'reservation_held'}.
if not arrive('free') then return leave() end

local function one(job, id, worker)
  local ending = ending_of(id)
  if ending and ending.how == 'h' and ending.job == job and ending.worker == worker then return before() end
  local held = reservation_of(id)
  if not held or held.job ~= job or held.worker ~= worker then return refused('reservation_held') end
  raise()
  end_reservation(held, 'h')
  return taken()
end

local rows = {}
for at = 4, #ARGV, 3 do rows[#rows + 1] = one(ARGV[at], ARGV[at + 1], ARGV[at + 2]) end
return leave(rows)
