-- common: stands before every script of the pool. What they share: names of keys, arrival, order, index, endings.
--
-- KEYS, the same for every script (one hash tag; the epoch is part of every name but the first):
--   1 epoch         hash: number, server, open, began, grace, revision, limit, lease_ms, paused, ended, old, installation
--   2 order, 3 now  the pool's revision; the latest moment seen, in ms
--   4 windows, 5 names            hashes: window → its id of 4 bytes; that id → window ('' holds the last number)
--   6 entries, 7 queue            hash: job → window id, place (16 bytes), checkpoint revision; zset of id..place..job
--   8 places, 9 reservations      hash: reservation → job, worker, revision, window; zset of their deadlines
--   10 leases, 11 deadlines       hash: attempt → job, worker, recorded, token, length; zset of their deadlines
--   12 jobs, 13 held, 14 progress hash: job → notice, reservation, shown, leases; zset of the jobs; hash: what was said
--   15 unaccounted, 16 gone       set of attempts; hash: attempt → how its stay in this epoch ended, until the grace ends
--   17 ended0, 18 ended1          hashes: ended reservation → job, worker, how; the older one is dropped when one is full
--   19 workers, 20 seen, 21 serving  hash of registrations; zset: last heard of; zset of (kind, queue, worker)
-- ARGV: 1 the epoch believed, 2 the identity of the server spoken to ('' unknown), 3 now in ms ('' asks the server).
-- Answers: {epoch, order, lease_ms, limit, freed, rows…}; another epoch than ARGV 1, or 0, is `stale`, without rows.
--   A row is {1, order, recorded, in_use, effect…} or {0, order, recorded, 'guard', what the event names…}.
--
-- Truth is one structure each: queue, reservations, deadlines, unaccounted. Everything else may name what is not there,
-- and what is there is always named: so writes that need memory come first, the one that counts is the last of them,
-- and what takes away comes after it. A script that memory stopped half way has done nothing that anyone sees.

local call = redis.call
local EPOCH, ORDER, NOW, WINDOWS, NAMES, ENTRIES, QUEUE = unpack(KEYS, 1, 7)
local PLACES, RESERVATIONS, LEASES, DEADLINES, JOBS, HELD, PROGRESS = unpack(KEYS, 8, 14)
local UNACCOUNTED, GONE, ENDED0, ENDED1, WORKERS, SEEN, SERVING = unpack(KEYS, 15, 21)
local ENDED_KEPT = 16384
local sub, char, byte, find = string.sub, string.char, string.byte, string.find
local pool = {number = 0, order = 0, lease_ms = 0, limit = 0, freed = 0}

local function whole(number)
  return math.floor(tonumber(number) or 0)
end

-- A write that removes nothing. Redis asks only the first write of a script for memory, so what frees memory and what
-- keeps running work alive begins with this; and a server that was made a replica says READONLY.
local function touch()
  call('HDEL', EPOCH, '')
end

local function pass_grace()
  if pool.grace and pool.now - pool.began >= pool.lease_ms then
    call('HDEL', EPOCH, 'grace')
    pool.grace = false
    if call('SCARD', UNACCOUNTED) > 0 then pool.freed = 1 end
    call('UNLINK', UNACCOUNTED, GONE)
  end
end

local function keep_now(last)
  if pool.now > last then call('INCRBY', NOW, pool.now - last) end
end

-- Reads the pool and its moment. Answers whether the epoch believed is the store's.
-- `kind`: 'grow' brings new work and may be refused by a full memory; 'free' is what running work needs; 'read' keeps
-- nothing.
local function arrive(kind)
  local head = call('HMGET', EPOCH, 'number', 'server', 'open', 'began', 'grace', 'limit', 'lease_ms', 'paused',
    'ended', 'revision', 'old')
  local marks = call('MGET', ORDER, NOW)
  if kind ~= 'grow' then touch() end
  local server = head[2] or ''
  local lost = not head[1] or (server ~= '' and ARGV[2] ~= '' and server ~= ARGV[2])
  pool.lost = lost
  pool.number = lost and 0 or whole(head[1])
  if pool.number == 0 or pool.number ~= whole(ARGV[1]) then return false end
  if not marks[1] or not marks[2] then
    pool.number = 0
    return false
  end
  pool.order, pool.open, pool.began, pool.grace = whole(marks[1]), head[3], whole(head[4]), head[5]
  pool.limit, pool.lease_ms, pool.paused, pool.ended = whole(head[6]), whole(head[7]), head[8] or '', head[9]
  pool.revision, pool.old = whole(head[10]), head[11] or ''
  local last, now = whole(marks[2]), tonumber(ARGV[3])
  if not now then
    local time = call('TIME')
    now = whole(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
  end
  now = whole(now)
  if now + pool.lease_ms < last then
    for at = 1, #KEYS do call('UNLINK', KEYS[at]) end
    pool.number = 0
    return false
  end
  pool.now = math.max(now, last)
  if kind ~= 'read' then keep_now(last) end
  pass_grace()
  return true
end

local function leave(rows)
  local answer = {pool.number, pool.order, pool.lease_ms, pool.limit, pool.freed}
  for _, row in ipairs(rows or {}) do answer[#answer + 1] = row end
  return answer
end

local function raise()
  pool.order = whole(call('INCR', ORDER))
end

local function in_use()
  return call('ZCARD', RESERVATIONS) + call('ZCARD', DEADLINES) + call('SCARD', UNACCOUNTED)
end

-- A step taken now and recorded; `raise` came before its effect.
local function taken(...)
  return {1, pool.order, 1, in_use(), ...}
end

-- What had happened before, or is recorded nowhere.
local function before(...)
  return {1, pool.order, 0, 0, ...}
end

local function refused(guard, ...)
  raise()
  return {0, pool.order, 1, guard, ...}
end

local function refused_quietly(guard, ...)
  return {0, pool.order, 0, guard, ...}
end

-- Whether `a` is before `b`, byte by byte: comparison of strings goes by the server's locale.
local function less(a, b)
  for place = 1, math.min(#a, #b) do
    local x, y = byte(a, place), byte(b, place)
    if x ~= y then return x < y end
  end
  return #a < #b
end

local function reservation_of(id)
  if not call('ZSCORE', RESERVATIONS, id) then return nil end
  local row = call('HGET', PLACES, id)
  if not row then return nil end
  local revision, window = string.match(sub(row, 33), '^(%d+) (.*)$')
  return {id = id, job = sub(row, 1, 16), worker = sub(row, 17, 32), revision = revision, window = window}
end

local function lease_of(attempt)
  if not call('ZSCORE', DEADLINES, attempt) then return nil end
  local row = call('HGET', LEASES, attempt)
  if not row then return nil end
  local token, length = string.match(sub(row, 34), '^(%d+) (%d+)$')
  return {job = sub(row, 1, 16), worker = sub(row, 17, 32), recorded = sub(row, 33, 33), token = token, length = length}
end

local function lease_row(lease)
  return lease.job .. lease.worker .. lease.recorded .. lease.token .. ' ' .. lease.length
end

-- What is held of a job, without what its row names and is there no more.
local function job_of(job)
  local row = call('HGET', JOBS, job)
  local held = {notice = false, leases = {}}
  if not row then return held end
  held.notice = sub(row, 1, 1) == '1'
  local place = 4
  if sub(row, 2, 2) == '1' then
    local id = sub(row, place, place + 15)
    if call('ZSCORE', RESERVATIONS, id) then held.reservation = id end
    place = place + 16
  end
  local shown
  if sub(row, 3, 3) == '1' then
    shown = sub(row, place, place + 15)
    place = place + 16
  end
  for at = place, #row - 15, 16 do
    local attempt = sub(row, at, at + 15)
    if call('ZSCORE', DEADLINES, attempt) then
      held.leases[#held.leases + 1] = attempt
      if attempt == shown then held.shown = shown end
    end
  end
  return held
end

local function job_row(held)
  return (held.notice and '1' or '0') .. (held.reservation and '1' or '0') .. (held.shown and '1' or '0')
    .. (held.reservation or '') .. (held.shown or '') .. table.concat(held.leases)
end

-- The job holds more than before.
local function job_grows(job, held)
  call('ZADD', HELD, 0, job)
  call('HSET', JOBS, job, job_row(held))
end

-- The job holds less than before. A full memory may keep the longer row: it names what is not there.
local function job_shrinks(job, held)
  if held.notice or held.reservation or held.shown or #held.leases > 0 then
    redis.pcall('HSET', JOBS, job, job_row(held))
  else
    call('HDEL', JOBS, job)
    call('ZREM', HELD, job)
  end
end

-- How an earlier reservation of this id ended: job, worker, 'h'anded back | 'r'eleased | 'o'ther.
local function ending_of(id)
  local row = call('HGET', ENDED0, id) or call('HGET', ENDED1, id)
  if not row then return nil end
  return {job = sub(row, 1, 16), worker = sub(row, 17, 32), how = sub(row, 33, 33)}
end

local function remember(held, how)
  local this, other = ENDED0, ENDED1
  if pool.ended == '1' then this, other = ENDED1, ENDED0 end
  if call('HLEN', this) >= ENDED_KEPT then
    call('UNLINK', other)
    this = other
    pool.ended = pool.ended == '1' and '0' or '1'
    redis.pcall('HSET', EPOCH, 'ended', pool.ended)
  end
  redis.pcall('HSET', this, held.id, held.job .. held.worker .. how)
end

-- Takes the place away, after everything that needs memory.
local function end_reservation(held, how)
  call('ZREM', RESERVATIONS, held.id)
  call('HDEL', PLACES, held.id)
  remember(held, how)
  job_shrinks(held.job, job_of(held.job))
end

-- The attempt's stay in this epoch is over. Answers whether that freed a place of the set.
local function end_stay(attempt, how)
  if pool.grace then call('HSETNX', GONE, attempt, how) end
  return call('SREM', UNACCOUNTED, attempt) == 1
end

-- The attempt executes under a live lease, and is the one whose progress is shown.
local function add_lease(attempt, lease)
  lease.recorded, lease.length = '0', string.format('%d', pool.lease_ms)
  call('HSET', LEASES, attempt, lease_row(lease))
  local held = job_of(lease.job)
  held.leases[#held.leases + 1] = attempt
  held.shown = attempt
  job_grows(lease.job, held)
  call('ZADD', DEADLINES, pool.now + pool.lease_ms, attempt)
  call('SREM', UNACCOUNTED, attempt)
  call('HDEL', PROGRESS, lease.job)
end

local function end_lease(attempt, lease, how)
  end_stay(attempt, how)
  call('ZREM', DEADLINES, attempt)
  call('HDEL', LEASES, attempt)
  local said = call('HGET', PROGRESS, lease.job)
  if said and sub(said, 1, 16) == attempt then call('HDEL', PROGRESS, lease.job) end
  job_shrinks(lease.job, job_of(lease.job))
end

-- Makes a live lease young again, also when memory is full.
local function renew(attempt, lease)
  local length = string.format('%d', pool.lease_ms)
  local score = whole(call('ZSCORE', DEADLINES, attempt))
  if lease.length ~= length then
    lease.length = length
    redis.pcall('HSET', LEASES, attempt, lease_row(lease))
  end
  call('ZINCRBY', DEADLINES, pool.now + pool.lease_ms - score, attempt)
end

local function renew_place(id)
  local score = whole(call('ZSCORE', RESERVATIONS, id))
  call('ZINCRBY', RESERVATIONS, pool.now + pool.lease_ms - score, id)
end

-- A job's entry, if it is in its window.
local function entry_of(job)
  local row = call('HGET', ENTRIES, job)
  if not row then return nil end
  local entry = {job = job, member = sub(row, 1, 20) .. job, window = sub(row, 1, 4), revision = sub(row, 21)}
  return call('ZSCORE', QUEUE, entry.member) and entry or nil
end

local function first_of(window)
  return call('ZRANGEBYLEX', QUEUE, '[' .. window, '(' .. window .. '\255', 'LIMIT', 0, 1)[1]
end

-- Takes an entry out of its window, and the window away when that was its last.
local function drop_entry(entry)
  call('ZREM', QUEUE, entry.member)
  call('HDEL', ENTRIES, entry.job)
  if not first_of(entry.window) then
    call('HDEL', WINDOWS, call('HGET', NAMES, entry.window) or '')
    call('HDEL', NAMES, entry.window)
  end
end

-- The oldest whose moment has passed.
local function overdue(key, limit)
  return call('ZRANGEBYSCORE', key, '-inf', string.format('%d', pool.now), 'LIMIT', 0, whole(limit))
end

-- Workers not heard of since this moment are forgotten.
local function horizon()
  return pool.now - 2 * pool.lease_ms
end

-- What a worker's row says that it serves: from the line feed after its registration on.
local function serves_of(row)
  local cut = find(row, '\n', 1, true)
  return sub(row, cut)
end

local function forget_worker(worker)
  local row = call('HGET', WORKERS, worker)
  if row then
    for pair in string.gmatch(serves_of(row), '\n([^\n]+)') do call('ZREM', SERVING, pair .. worker) end
  end
  call('HDEL', WORKERS, worker, 'drain ' .. worker)
  call('ZREM', SEEN, worker)
end

-- Forgets workers not heard of for two lease lengths, at most so many.
local function forget_silent(most)
  local before = '(' .. string.format('%d', horizon())
  for _, silent in ipairs(call('ZRANGEBYSCORE', SEEN, '-inf', before, 'LIMIT', 0, most)) do forget_worker(silent) end
end
