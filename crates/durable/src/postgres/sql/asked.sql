-- What claims and retries are decided with beside the guards: all of it is written once, so it may be read before.
-- Arrays of one length: $1 job, $2 checkpoint revision (0 for none), $3 attempt (one that runs already is answered with
-- the checkpoint it was given)
-- Answers, in order: spec (NULL: there is none), the revision meant, and the checkpoint of that revision, its own NULL
-- where there is none. The documents are NULL once the job has ended.
SELECT r.place, s.spec, m.meant, c.revision, c.attempt, c.token, c.progress, c.user_progress, c.at, c.state, c.manifest
FROM unnest($1::uuid[], $2::bigint[], $3::uuid[]) WITH ORDINALITY AS r (job, revision, attempt, place)
LEFT JOIN {schema}.running u ON u.attempt = r.attempt AND u.job = r.job
CROSS JOIN LATERAL (SELECT coalesce(u.checkpoint_revision, r.revision) AS meant) m
LEFT JOIN {schema}.job_spec s ON s.job = r.job
LEFT JOIN {schema}.checkpoint c ON c.job = r.job AND c.revision = m.meant
ORDER BY r.place
