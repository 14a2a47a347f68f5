-- CleanTerminalCoordination: entry, reservation, notice and progress of terminal jobs go; a lease stays. Atomic: each row.
-- KEYS: all of common.lua. Writes: order, now, ended; takes from queue, entries, windows, names, reservations, places,
--   progress, jobs, held.
-- ARGV: from 4 on, for each row (≤ 64): job.
-- Rows: {1, order, 1, in_use, reservation or ''} | {0, order, 1, 'something_to_clean', ''}.
if not arrive('free') then return leave() end

local function one(job)
  local entry, held = entry_of(job), job_of(job)
  local reservation = held.reservation and reservation_of(held.reservation)
  if not (entry or reservation or held.notice or held.shown) then return refused('something_to_clean', '') end
  raise()
  if entry then drop_entry(entry) end
  held.notice, held.shown, held.reservation = false, nil, nil
  call('HDEL', PROGRESS, job)
  if reservation then
    call('ZREM', RESERVATIONS, reservation.id)
    call('HDEL', PLACES, reservation.id)
    remember(reservation, 'o')
  end
  job_shrinks(job, held)
  return taken(reservation and reservation.id or '')
end

local rows = {}
for at = 4, #ARGV do rows[#rows + 1] = one(ARGV[at]) end
return leave(rows)
