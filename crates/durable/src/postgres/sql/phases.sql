-- Where jobs stand and which attempt has authority, in the order asked; phase NULL: the job is unknown.
-- $1 jobs
SELECT j.phase, j.attempt, j.revision
FROM unnest($1::uuid[]) WITH ORDINALITY AS r (job, place) LEFT JOIN {schema}.job j ON j.job = r.job
ORDER BY r.place
