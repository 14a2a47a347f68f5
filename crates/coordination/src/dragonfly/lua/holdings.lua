-- holdings: reads what is held of jobs beside their entries, a page in the order of their ids.
-- KEYS: all of common.lua. Writes nothing.
-- ARGV: 4 the job before the page ('' from the first on), 5 how many (≤ 64).
-- Rows: first {1 when there are more, the last job looked at or ''}; then {job, notice, shown, reservation or '', its
--   worker or '', and for each lease attempt, worker, token, age in ms}.
if not arrive('read') then return leave() end
local from = ARGV[4] == '' and '-' or '(' .. ARGV[4]
local limit = whole(ARGV[5])
local jobs = call('ZRANGEBYLEX', HELD, from, '+', 'LIMIT', 0, limit + 1)
local rows = {{#jobs > limit and 1 or 0, jobs[math.min(#jobs, limit)] or ''}}
for number = 1, math.min(#jobs, limit) do
  local job = jobs[number]
  local held = job_of(job)
  local place = held.reservation and reservation_of(held.reservation)
  local row = {job, held.notice and 1 or 0, held.shown and 1 or 0, place and place.id or '', place and place.worker or ''}
  for _, attempt in ipairs(held.leases) do
    local lease = lease_of(attempt)
    if lease then
      local age = pool.now - (whole(call('ZSCORE', DEADLINES, attempt)) - whole(lease.length))
      row[#row + 1], row[#row + 2], row[#row + 3], row[#row + 4] = attempt, lease.worker, lease.token, math.max(age, 0)
    end
  end
  if place or held.notice or held.shown or #row > 5 then rows[#rows + 1] = row end
end
return leave(rows)
