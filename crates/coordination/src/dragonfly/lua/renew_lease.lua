-- RenewLease: leases are young again, and their holders learn of cancels. Works when memory is full. Atomic: each row.
-- KEYS: all of common.lua. Writes: order (the first renewal), now, deadlines, leases.
-- ARGV: from 4 on, for each row (≤ 64): job, attempt, worker.
-- Rows: {1, order, recorded, in_use, notice, token} | {0, order, 1, 'lease_live', token or ''}.
if not arrive('free') then return leave() end

local function one(job, attempt, worker)
  local lease = lease_of(attempt)
  if not lease or lease.job ~= job or lease.worker ~= worker then
    return refused('lease_live', lease and lease.token or '')
  end
  local notice = job_of(job).notice and 1 or 0
  if lease.recorded == '1' then
    renew(attempt, lease)
    return before(notice, lease.token)
  end
  raise()
  lease.recorded = '1'
  redis.pcall('HSET', LEASES, attempt, lease_row(lease))
  renew(attempt, lease)
  return taken(notice, lease.token)
end

local rows = {}
for at = 4, #ARGV, 3 do rows[#rows + 1] = one(ARGV[at], ARGV[at + 1], ARGV[at + 2]) end
return leave(rows)
