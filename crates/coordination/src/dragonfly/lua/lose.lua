-- lose: LoseCoordinationState, on purpose: this pool's epoch and state are gone. Atomic: the whole.
-- KEYS: all of common.lua. Deletes all of them.
-- ARGV: as in common.lua.
-- Answers: {the epoch that was, its last order}.
arrive('free')
local was, order = pool.number, pool.order
for at = 1, #KEYS do call('UNLINK', KEYS[at]) end
return {was, order}
