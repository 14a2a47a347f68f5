-- ExpireLease: leases past their length end, the oldest first. Atomic: the whole.
-- KEYS: all of common.lua. Writes: order, now, gone (in the grace); takes from deadlines, leases, unaccounted, progress,
--   jobs, held.
-- ARGV: 4 at most so many (≤ 64).
-- Rows: {1, order, 1, in_use, job, attempt, worker, token}.
if not arrive('free') then return leave() end

local rows = {}
for _, attempt in ipairs(overdue(DEADLINES, ARGV[4])) do
  local lease = lease_of(attempt)
  if lease then
    raise()
    end_lease(attempt, lease, 'age')
    rows[#rows + 1] = taken(lease.job, attempt, lease.worker, lease.token)
  else
    call('ZREM', DEADLINES, attempt)
  end
end
return leave(rows)
