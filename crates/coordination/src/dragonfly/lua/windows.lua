-- windows: reads how many entries windows hold.
-- KEYS: all of common.lua. Writes nothing.
-- ARGV: from 4 on ids of windows (≤ 100).
-- Rows: {entries} for each.
if not arrive('read') then return leave() end
local rows = {}
for at = 4, #ARGV do rows[#rows + 1] = {call('ZLEXCOUNT', QUEUE, '[' .. ARGV[at], '(' .. ARGV[at] .. '\255')} end
return leave(rows)
