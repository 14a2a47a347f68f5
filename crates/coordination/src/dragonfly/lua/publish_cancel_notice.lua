-- PublishCancelNotice: workers are told of cancels, at their next renewal at the latest. Atomic: each row.
-- KEYS: all of common.lua. Writes: order, now, held, jobs.
-- ARGV: from 4 on, for each row (≤ 64): job.
-- Rows: {1, order, 1, in_use} | {0, order, 1, 'not_noticed'}.
if not arrive('free') then return leave() end

local function one(job)
  local held = job_of(job)
  if held.notice then return refused('not_noticed') end
  raise()
  held.notice = true
  job_grows(job, held)
  return taken()
end

local rows = {}
for at = 4, #ARGV do rows[#rows + 1] = one(ARGV[at]) end
return leave(rows)
