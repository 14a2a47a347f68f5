-- install_epoch: a new lifetime of the pool, opening, when the store's is lower, gone, or another server's; never over the
-- pool of another installation. Atomic: the whole.
-- KEYS: all of common.lua, named for the new epoch. Writes: epoch, order, now; deletes what an old snapshot left of them.
-- ARGV: as in common.lua; 1 is the epoch to install, 4 the order to begin with: above all that were seen of this epoch,
--   5 the installation.
-- Answers: {the store's epoch now, 1 when it was installed now, the one before (0: none)}.
local head = call('HMGET', EPOCH, 'number', 'server', 'old', 'installation')
local server = head[2] or ''
local lost = not head[1] or (server ~= '' and ARGV[2] ~= '' and server ~= ARGV[2])
local found, wanted = whole(head[1]), whole(ARGV[1])
if not lost and (found >= wanted or (head[4] or ARGV[5]) ~= ARGV[5]) then return {found, 0, found} end

local now = tonumber(ARGV[3])
if not now then
  local time = call('TIME')
  now = whole(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end
local old = head[3] or ''
if found > 0 and found ~= wanted then old = old .. string.format('%d ', found) end
for at = 4, 21 do call('UNLINK', KEYS[at]) end
call('SET', ORDER, ARGV[4])
call('SET', NOW, string.format('%d', whole(now)))
call('DEL', EPOCH)
call('HSET', EPOCH, 'number', ARGV[1], 'server', ARGV[2], 'began', string.format('%d', whole(now)), 'grace', '1',
  'limit', '0', 'lease_ms', '15000', 'revision', '0', 'old', old, 'installation', ARGV[5])
return {wanted, 1, found}
