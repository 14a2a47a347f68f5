-- ReleaseLease: leases of attempts without authority are given back. Atomic: each row.
-- KEYS: all of common.lua. Writes: order, now, gone (in the grace); takes from deadlines, leases, unaccounted, progress,
--   jobs, held.
-- ARGV: from 4 on, for each row (≤ 64): job, attempt.
-- Rows: {1, order, 1, in_use, worker, token} | {0, order, 1, 'lease_live', worker or '', token or ''}.
if not arrive('free') then return leave() end

local function one(job, attempt)
  local lease = lease_of(attempt)
  if not lease then return refused('lease_live', '', '') end
  if lease.job ~= job then return refused('lease_live', lease.worker, lease.token) end
  raise()
  end_lease(attempt, lease, 'seen')
  return taken(lease.worker, lease.token)
end

local rows = {}
for at = 4, #ARGV, 2 do rows[#rows + 1] = one(ARGV[at], ARGV[at + 1]) end
return leave(rows)
