-- progress: reads what jobs say of themselves.
-- KEYS: all of common.lua. Writes nothing.
-- ARGV: from 4 on jobs (≤ 64).
-- Rows: {attempt, what it says} or {'', ''} for each.
if not arrive('read') then return leave() end
local rows = {}
for at = 4, #ARGV do
  local said = call('HGET', PROGRESS, ARGV[at])
  local shown = said and job_of(ARGV[at]).shown
  if shown and shown == sub(said, 1, 16) then
    rows[#rows + 1] = {shown, sub(said, 17)}
  else
    rows[#rows + 1] = {'', ''}
  end
end
return leave(rows)
