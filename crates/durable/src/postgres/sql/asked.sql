-- What claims and retries are decided with beside the guards: both are written once, so they may be read before.
-- Arrays of one length: $1 job, $2 checkpoint revision (0 for none)
-- Answers, in order: spec (NULL: there is none), and the checkpoint of that revision, its revision NULL where there is
-- none. The documents are NULL once the job has ended.
SELECT r.place, s.spec, c.revision, c.attempt, c.token, c.progress, c.user_progress, c.at, c.state, c.manifest
FROM unnest($1::uuid[], $2::bigint[]) WITH ORDINALITY AS r (job, revision, place)
LEFT JOIN {schema}.job_spec s ON s.job = r.job
LEFT JOIN {schema}.checkpoint c ON c.job = r.job AND c.revision = r.revision
ORDER BY r.place
