-- ActivateAttempt: the exact reservation becomes the lease of the attempt. Atomic: each row.
-- KEYS: all of common.lua. Writes: order, now, leases, jobs, held, deadlines; then takes from reservations, places,
--   unaccounted, progress; ended.
-- ARGV: from 4 on, for each row (≤ 64): job, attempt, token, reservation, worker.
-- Rows: {1, order, recorded, in_use} | {0, order, 1, 'reservation_held'}.
if not arrive('free') then return leave() end

local function one(job, attempt, token, id, worker)
  local lease = lease_of(attempt)
  local held = reservation_of(id)
  local exact = held and held.job == job and held.worker == worker
  if lease and lease.job == job and lease.worker == worker then
    renew(attempt, lease)
    return before()
  end
  if not exact or lease then return refused('reservation_held') end
  raise()
  add_lease(attempt, {job = job, worker = worker, token = token})
  end_reservation(held, 'o')
  return taken()
end

local rows = {}
for at = 4, #ARGV, 5 do
  rows[#rows + 1] = one(ARGV[at], ARGV[at + 1], ARGV[at + 2], ARGV[at + 3], ARGV[at + 4])
end
return leave(rows)
