-- ReportProgress: what jobs say of themselves is shown, under a live lease. Display only. Atomic: each row.
-- KEYS: all of common.lua. Writes: order, now, progress, held, jobs.
-- ARGV: from 4 on, for each row (≤ 64): job, attempt, worker, what it says (opaque).
-- Rows: {1, order, 1, in_use, token} | {0, order, 1, 'lease_live' | 'progress_changed', token or ''}.
if not arrive('grow') then return leave() end

local function one(job, attempt, worker, says)
  local lease = lease_of(attempt)
  if not lease or lease.job ~= job or lease.worker ~= worker then
    return refused('lease_live', lease and lease.token or '')
  end
  local held, said = job_of(job), attempt .. says
  if held.shown == attempt and call('HGET', PROGRESS, job) == said then
    return refused('progress_changed', lease.token)
  end
  raise()
  call('HSET', PROGRESS, job, said)
  if held.shown ~= attempt then
    held.shown = attempt
    job_grows(job, held)
  end
  return taken(lease.token)
end

local rows = {}
for at = 4, #ARGV, 4 do rows[#rows + 1] = one(ARGV[at], ARGV[at + 1], ARGV[at + 2], ARGV[at + 3]) end
return leave(rows)
