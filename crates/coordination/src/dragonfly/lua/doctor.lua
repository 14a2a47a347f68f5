-- doctor: tries every command that scripts use, on a key of its own.
-- KEYS: 1 a key for trials. Writes it, and deletes it at the end.
-- ARGV: as in common.lua.
-- Answers: the commands that were refused, each with a colon and the reason.
local trial, refusals = KEYS[1], {}

local function try(...)
  local answer = redis.pcall(...)
  if type(answer) == 'table' and answer.err then refusals[#refusals + 1] = (...) .. ': ' .. answer.err end
end

try('UNLINK', trial)
try('DEL', trial)
try('HSET', trial, 'f', '1')
try('HSETNX', trial, 'g', '1')
try('HINCRBY', trial, 'f', 1)
try('HGET', trial, 'f')
try('HMGET', trial, 'f')
try('HLEN', trial)
try('HKEYS', trial)
try('HGETALL', trial)
try('HDEL', trial, 'f')
try('UNLINK', trial)
try('ZADD', trial, 0, 'm')
try('ZSCORE', trial, 'm')
try('ZCARD', trial)
try('ZINCRBY', trial, 0, 'm')
try('ZLEXCOUNT', trial, '-', '+')
try('ZRANGEBYLEX', trial, '-', '+', 'LIMIT', 0, 1)
try('ZRANGEBYSCORE', trial, '-inf', '+inf', 'LIMIT', 0, 1)
try('ZREM', trial, 'm')
try('UNLINK', trial)
try('SADD', trial, 'm')
try('SCARD', trial)
try('SISMEMBER', trial, 'm')
try('SREM', trial, 'm')
try('UNLINK', trial)
try('SET', trial, '1')
try('INCR', trial)
try('INCRBY', trial, 1)
try('MGET', trial)
try('TIME')
try('UNLINK', trial)
return refusals
