-- RestoreLease: after a loss, workers that still execute put their leases back, inside the grace. Atomic: each row.
-- KEYS: all of common.lua. Writes: order, now, leases, jobs, held, deadlines; then takes from unaccounted, progress.
-- ARGV: from 4 on, for each row (≤ 64): job, attempt, token, worker.
-- Rows: {1, order, recorded, in_use} | {0, order, 1, 'lease_live' | 'grace_over' | 'lease_ended_by_age' | 'authority' |
--   'global_limit'}.
if not arrive('free') then return leave() end

local function one(job, attempt, token, worker)
  local lease = lease_of(attempt)
  if lease then
    if lease.job ~= job or lease.worker ~= worker then return refused('lease_live') end
    renew(attempt, lease)
    return before()
  end
  if not pool.grace then return refused('grace_over') end
  local gone = call('HGET', GONE, attempt)
  if gone then return refused(gone == 'age' and 'lease_ended_by_age' or 'authority') end
  if call('SISMEMBER', UNACCOUNTED, attempt) == 0 and in_use() >= pool.limit then return refused('global_limit') end
  raise()
  add_lease(attempt, {job = job, worker = worker, token = token})
  return taken()
end

local rows = {}
for at = 4, #ARGV, 4 do rows[#rows + 1] = one(ARGV[at], ARGV[at + 1], ARGV[at + 2], ARGV[at + 3]) end
return leave(rows)
