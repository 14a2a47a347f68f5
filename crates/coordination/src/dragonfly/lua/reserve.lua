-- Reserve: the first entry of the windows named becomes a place of one worker, once per reservation id. Atomic: each id.
-- KEYS: all of common.lua. Writes: order, now, places, jobs, held, reservations; then takes from queue, entries, windows.
-- ARGV: 4 worker; 5 number of ids I ≤ 16, then the ids; then for each window (≤ 32): text, priority, queue.
-- Rows: {1, order, recorded, in_use, job, window, checkpoint revision} | {0, order, recorded, 'opening' |
--   'reservation_held' (and the job, where known) | 'global_limit' | 'queue_paused' | 'queued'}.
if not arrive('free') then return leave() end

local worker, ids = ARGV[4], whole(ARGV[5])
local windows = {}
for at = 6 + ids, #ARGV, 3 do
  local id = call('HGET', WINDOWS, ARGV[at])
  local first = id and first_of(id)
  if first then
    local paused = find(pool.paused, '\n' .. ARGV[at + 2] .. '\n', 1, true) ~= nil
    windows[#windows + 1] =
      {id = id, text = ARGV[at], priority = whole(ARGV[at + 1]), paused = paused, first = first}
  end
end

-- The window whose first entry has the lowest (priority, place, job), or the guard that says why there is none.
local function offer()
  local best, none = nil, 'queued'
  for _, window in ipairs(windows) do
    if window.first and window.paused then
      none = 'queue_paused'
    elseif window.first then
      local lower = best and window.priority < best.priority
      local same = best and window.priority == best.priority
      if not best or lower or (same and less(sub(window.first, 5), sub(best.first, 5))) then best = window end
    end
  end
  return best, none
end

local function again(held)
  if held.worker ~= worker then return refused('reservation_held', held.job) end
  renew_place(held.id)
  -- A repeat after a full memory: the entry that became this place must be gone.
  local entry = entry_of(held.job)
  if entry then drop_entry(entry) end
  return before(held.job, held.window, held.revision)
end

-- The first entry offered, or the guard. An entry without its row (a store that evicts) is passed over, four times.
local function entry_offered()
  for _ = 1, 4 do
    local window, none = offer()
    if not window then return nil, nil, none end
    local entry = entry_of(sub(window.first, 21))
    if entry then return entry, window end
    call('ZREM', QUEUE, window.first)
    window.first = first_of(window.id)
  end
  return nil, nil, 'queued'
end

local function one(id)
  if not pool.open then return refused_quietly('opening') end
  local held = reservation_of(id)
  if held then return again(held) end
  local ending = ending_of(id)
  if ending then return refused('reservation_held', ending.job) end
  if in_use() >= pool.limit then return refused_quietly('global_limit') end
  local entry, window, none = entry_offered()
  if not entry then return refused_quietly(none) end
  raise()
  call('HSET', PLACES, id, entry.job .. worker .. entry.revision .. ' ' .. window.text)
  local row = job_of(entry.job)
  row.reservation = id
  job_grows(entry.job, row)
  call('ZADD', RESERVATIONS, pool.now + pool.lease_ms, id)
  drop_entry(entry)
  window.first = first_of(window.id)
  return taken(entry.job, window.text, entry.revision)
end

local rows = {}
for at = 6, 5 + ids do rows[#rows + 1] = one(ARGV[at]) end
return leave(rows)
