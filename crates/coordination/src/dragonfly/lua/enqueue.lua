-- Enqueue: rows of the outbox become queue entries. Atomic: each row.
-- KEYS: all of common.lua. Writes: order, now, windows, names, entries, queue; serving (silent workers leave).
-- ARGV: 4 number of windows W ≤ 64; for each window its text, prefix of workers of all queues of the kind, prefix of
--   workers of this queue; then for each row (≤ 64): job, number of its window (from 1), place (16 bytes), revision.
-- Rows: {1, order, 1, in_use, entries in that window} | {0, order, 1, 'not_queued' | 'not_reserved' | 'lease_not_live' |
--   'window_registered' | 'window_full'}.
if not arrive('grow') then return leave() end

-- Whether somebody who is not silent serves what the prefix says. Looks at 64 workers at most, and takes silent ones out.
local function anyone(prefix)
  for _ = 1, 4 do
    local some = call('ZRANGEBYLEX', SERVING, '[' .. prefix, '(' .. prefix .. string.rep('\255', 17), 'LIMIT', 0, 16)
    for _, member in ipairs(some) do
      local seen = call('ZSCORE', SEEN, sub(member, -16))
      if seen and tonumber(seen) >= horizon() then return true end
      call('ZREM', SERVING, member)
    end
    if #some < 16 then return false end
  end
  return false
end

local windows = {}
for number = 1, whole(ARGV[4]) do
  local at = 5 + (number - 1) * 3
  windows[number] = {text = ARGV[at], all = ARGV[at + 1], named = ARGV[at + 2], id = call('HGET', WINDOWS, ARGV[at])}
end

local function served(window)
  if window.served == nil then window.served = anyone(window.all) or anyone(window.named) end
  return window.served
end

local function entries_in(window)
  if not window.id then return 0 end
  return call('ZLEXCOUNT', QUEUE, '[' .. window.id, '(' .. window.id .. '\255')
end

-- The window's short id, made when it has none.
local function intern(window)
  if not window.id then
    local number = whole(call('HINCRBY', NAMES, '', 1))
    local high = math.floor(number / 65536)
    local low = number % 65536
    window.id = char(math.floor(high / 256) % 256, high % 256, math.floor(low / 256), low % 256)
    call('HSET', NAMES, window.id, window.text)
    call('HSET', WINDOWS, window.text, window.id)
  end
  return window.id
end

local function one(job, window, place, revision)
  if entry_of(job) then return refused('not_queued') end
  local held = job_of(job)
  if held.reservation then return refused('not_reserved') end
  if #held.leases > 0 then return refused('lease_not_live') end
  if not served(window) then return refused('window_registered') end
  local entries = entries_in(window)
  if entries >= 2000 or call('ZCARD', QUEUE) >= 200000 then return refused('window_full') end
  raise()
  local id = intern(window)
  call('HSET', ENTRIES, job, id .. place .. revision)
  call('ZADD', QUEUE, 0, id .. place .. job)
  return taken(entries + 1)
end

local rows = {}
for at = 5 + 3 * #windows, #ARGV, 4 do
  rows[#rows + 1] = one(ARGV[at], windows[whole(ARGV[at + 1])], ARGV[at + 2], ARGV[at + 3])
end
return leave(rows)
