-- Enqueue: rows of the outbox become queue entries. Atomic: the batch, decided row by row.
-- Takes: pool, epoch believed, now; windows: kinds, queues, priorities; rows (≤ 64): jobs, the number of each one's window
-- (from 1), dues, sequences (with the highest bit turned), checkpoint_revisions.
-- Writes entry, queue_window, pool.
-- Rows: entries (in that window) | not_queued | not_reserved | lease_not_live | window_registered | window_full.
CREATE OR REPLACE FUNCTION {schema}.enqueue(
  pool_name text, believed bigint, clock_ms bigint, kinds text[], queues text[], priorities integer[],
  jobs uuid[], windows integer[], dues bigint[], sequences bigint[], checkpoint_revisions bigint[])
RETURNS SETOF {schema}.step LANGUAGE plpgsql AS $$
DECLARE
  here    {schema}.pool := {schema}.arrive(pool_name, believed, clock_ms);
  step    {schema}.step;
  known   {schema}.queue_window;
  numbers integer[];
  counts  integer[];
  before  integer[];
  served  boolean[];
  used    bigint;
  total   bigint;
  at      integer;
BEGIN
  IF here.epoch = believed AND believed > 0 THEN
    used := {schema}.in_use(here.number);
    SELECT coalesce(sum(q.entries), 0) INTO total FROM {schema}.queue_window q WHERE q.pool = here.number;
    FOR w IN 1 .. cardinality(kinds) LOOP
      SELECT q.* INTO known FROM {schema}.queue_window q
      WHERE q.pool = here.number AND q.kind = kinds[w] AND q.queue = queues[w] AND q.priority = priorities[w];
      numbers[w] := known.number;
      counts[w] := coalesce(known.entries, 0);
      served[w] := EXISTS (
        SELECT FROM {schema}.worker k
        WHERE k.pool = here.number AND NOT k.draining AND k.seen_ms >= here.now_ms - 2 * here.lease_ms
          AND kinds[w] = ANY (k.serves_kinds) AND (k.serves_queues IS NULL OR queues[w] = ANY (k.serves_queues)));
    END LOOP;
    before := counts;
    FOR i IN 1 .. cardinality(jobs) LOOP
      step := NULL;
      step.recorded := true;
      at := windows[i];
      here.revision := here.revision + 1;
      IF EXISTS (SELECT FROM {schema}.entry e WHERE e.pool = here.number AND e.job = jobs[i]) THEN
        step.guard := 'not_queued';
      ELSIF EXISTS (SELECT FROM {schema}.reservation r WHERE r.pool = here.number AND r.job = jobs[i]) THEN
        step.guard := 'not_reserved';
      ELSIF EXISTS (SELECT FROM {schema}.lease l WHERE l.pool = here.number AND l.job = jobs[i]) THEN
        step.guard := 'lease_not_live';
      ELSIF NOT served[at] THEN
        step.guard := 'window_registered';
      ELSIF counts[at] >= 2000 OR total >= 200000 THEN
        step.guard := 'window_full';
      ELSE
        IF numbers[at] IS NULL THEN
          here.last_window := here.last_window + 1;
          numbers[at] := here.last_window;
          INSERT INTO {schema}.queue_window (pool, number, kind, queue, priority, entries)
          VALUES (here.number, numbers[at], kinds[at], queues[at], priorities[at], 0);
        END IF;
        INSERT INTO {schema}.entry (pool, job, window_number, due, sequence, checkpoint_revision)
        VALUES (here.number, jobs[i], numbers[at], dues[i], sequences[i], checkpoint_revisions[i]);
        counts[at] := counts[at] + 1;
        total := total + 1;
        step.in_use := used;
        step.entries := counts[at];
      END IF;
      step.revision := here.revision;
      RETURN NEXT step;
    END LOOP;
    FOR w IN 1 .. cardinality(kinds) LOOP
      IF counts[w] > before[w] THEN
        UPDATE {schema}.queue_window q SET entries = counts[w] WHERE q.pool = here.number AND q.number = numbers[w];
      END IF;
    END LOOP;
  END IF;
  RETURN NEXT {schema}.leave(here, believed);
END
$$;
