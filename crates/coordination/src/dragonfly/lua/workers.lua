-- workers: reads registrations, a page of them.
-- KEYS: all of common.lua. Writes nothing.
-- ARGV: 4 how many to pass over, 5 how many to read (≤ 100).
-- Rows: {worker, silent for so many ms, registration} for each that is not forgotten.
if not arrive('read') then return leave() end
local from = string.format('%d', horizon())
local some = call('ZRANGEBYSCORE', SEEN, from, '+inf', 'LIMIT', whole(ARGV[4]), whole(ARGV[5]))
local rows = {}
for _, worker in ipairs(some) do
  local row = call('HGET', WORKERS, worker)
  if row then
    local silent = pool.now - whole(call('ZSCORE', SEEN, worker))
    rows[#rows + 1] = {worker, math.max(silent, 0), sub(row, 1, find(row, '\n', 1, true) - 1)}
  end
end
return leave(rows)
