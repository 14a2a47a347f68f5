-- Jobs in `retry_wait` that are due, the longest due first.
-- :now, :limit
SELECT job FROM retry_wait WHERE due <= :now ORDER BY due, job LIMIT :limit
