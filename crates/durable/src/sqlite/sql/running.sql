-- Attempts with authority, ordered by id.
-- :after (an id, or an empty text of bytes for the start), :limit
SELECT r.job, r.attempt, r.token, r.worker, r.epoch, r.cancel_requested_at, j.phase, j.revision
FROM running r JOIN job j ON j.job = r.job
WHERE r.attempt > :after
ORDER BY r.attempt
LIMIT :limit
