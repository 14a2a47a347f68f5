-- FalseSuspicion: reservations past their deadline end, the oldest first, though their workers may live. Atomic: the whole.
-- KEYS: all of common.lua. Writes: order, now, ended; takes from reservations, places, jobs, held.
-- ARGV: 4 at most so many (≤ 64).
-- Rows: {1, order, 1, in_use, job, reservation, worker}.
if not arrive('free') then return leave() end

local rows = {}
for _, id in ipairs(overdue(RESERVATIONS, ARGV[4])) do
  local held = reservation_of(id)
  if held then
    raise()
    end_reservation(held, 'o')
    rows[#rows + 1] = taken(held.job, id, held.worker)
  else
    call('ZREM', RESERVATIONS, id)
  end
end
return leave(rows)
