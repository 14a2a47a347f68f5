-- The last part of a list: what is asked for of the jobs walked over.
-- $3 floor (the last id to look at, or NULL), $4 kind, $5 queue, $6 created from, $7 created until, $8 workers, $9 text
-- (each or NULL), $10 limit
  AND ($3::uuid IS NULL OR s.job >= $3) AND ($4::text IS NULL OR j.kind = $4) AND ($5::text IS NULL OR j.queue = $5)
  AND ($6::bigint IS NULL OR j.created_at >= $6) AND ($7::bigint IS NULL OR j.created_at < $7)
  AND ($8::uuid[] IS NULL OR EXISTS (
    SELECT FROM {schema}.running r WHERE r.job = j.job AND r.worker = ANY ($8)))
  AND ($9::text IS NULL OR strpos(
    lower((j.kind || ' ' || replace(coalesce(j.words, ''), '","', ' ') || ' ' || coalesce(
      (SELECT substr(e.error, 1, 1024) FROM {schema}.attempt_error e WHERE e.job = j.job ORDER BY e.token DESC LIMIT 1),
      '')) COLLATE "C"),
    lower($9 COLLATE "C")) > 0)
ORDER BY s.job DESC
LIMIT $10::bigint
