-- The first schema. Forward only: a change is a new file, never an edit of this one (files are checksummed).
-- Everything is inside the schema; nothing needs a superuser or an extension.
--
-- What a hot step touches is small. The job's row has no index on a column that changes, so its updates stay on their
-- page (HOT); who waits, who runs and who waits for a retry are tables of their own that hold only such jobs; the ledger
-- of attempts is written once, at an attempt's end; what a job asks for lies beside its row and is written once.
-- Rows that belong to a job are written by the statement that holds the job's row, so there are no foreign keys: each
-- would lock that row once more. Ids are uuid (16 bytes in their order), times milliseconds since 1970, texts compare by
-- their bytes.

-- The pool's epoch and configuration. One row. `raised_from` makes the epoch's compare-and-swap repeatable.
CREATE TABLE {schema}.pool (
  single          boolean PRIMARY KEY DEFAULT true CHECK (single),
  name            text    COLLATE "C" NOT NULL,
  epoch           bigint  NOT NULL DEFAULT 1 CHECK (epoch >= 1),
  open            boolean NOT NULL DEFAULT true,
  raised_from     bigint  NOT NULL DEFAULT 0,
  lease_ms        bigint  NOT NULL CHECK (lease_ms BETWEEN 500 AND 3600000),
  global_limit    integer NOT NULL CHECK (global_limit BETWEEN 1 AND 1000000),
  paused          text[]  COLLATE "C" NOT NULL DEFAULT '{}',
  config_revision bigint  NOT NULL DEFAULT 1,
  revision        bigint  NOT NULL DEFAULT 1
);

-- The spec's durable variables of a job, and what people see of it in a list.
--   attempt: the spec's `authority`.   progress, checkpoint_valid: the spec's `checkpoint`, `checkpointValid`;
--   a succeeded job's checkpoint is complete by its phase.   losses: workers lost in a row.
--   retried_by, retried: the last `retry` that moved this very job, so that it can be repeated.
CREATE TABLE {schema}.job (
  job                 uuid     PRIMARY KEY,
  attempt             uuid,
  retry_of            uuid,
  retried_by          uuid,
  revision            bigint   NOT NULL DEFAULT 1,
  progress            bigint   NOT NULL DEFAULT 0,
  checkpoint_revision bigint   NOT NULL DEFAULT 0,
  retry_base_ms       bigint   NOT NULL,
  retry_cap_ms        bigint   NOT NULL,
  created_at          bigint   NOT NULL,
  due_at              bigint   NOT NULL,
  finished_at         bigint,
  token               integer  NOT NULL DEFAULT 0,
  max_attempts        integer  NOT NULL CHECK (max_attempts BETWEEN 1 AND 32767),
  losses              integer  NOT NULL DEFAULT 0,
  priority            integer  NOT NULL CHECK (priority BETWEEN 1 AND 4),
  cancel_requested    boolean  NOT NULL DEFAULT false,
  checkpoint_valid    boolean  NOT NULL DEFAULT false,
  phase               text     COLLATE "C" NOT NULL DEFAULT 'queued',
  kind                text     COLLATE "C" NOT NULL,
  queue               text     COLLATE "C" NOT NULL,
  retried             text     COLLATE "C" CHECK (retried IN ('due_now', 'offered')),
  words               text     COLLATE "C",
  user_progress       text     COLLATE "C",
  CHECK (token <= max_attempts),
  CHECK ((phase IN ('running', 'cancelling')) = (attempt IS NOT NULL)),
  CHECK ((phase IN ('succeeded', 'failed', 'cancelled')) = (finished_at IS NOT NULL)),
  CHECK ((phase IN ('cancelling', 'cancelled')) = cancel_requested),
  CHECK (phase IN ('queued', 'running', 'retry_wait', 'cancelling', 'succeeded', 'failed', 'cancelled'))
) WITH (fillfactor = 45, autovacuum_vacuum_scale_factor = 0.05);

-- What the job asks for, as JSON of the whole submission.
CREATE TABLE {schema}.job_spec (
  job  uuid PRIMARY KEY,
  spec text COLLATE "C" NOT NULL
);

CREATE TABLE {schema}.idempotency (
  key text COLLATE "C" PRIMARY KEY,
  job uuid NOT NULL
);

-- A row exists exactly while `dispatchNeeded`. `scheduled`: it was not due yet when it came in. Its sequence is given
-- before its commit, so a row may appear behind one that is already seen.
CREATE TABLE {schema}.outbox (
  job       uuid    PRIMARY KEY,
  sequence  bigint  GENERATED ALWAYS AS IDENTITY,
  due       bigint  NOT NULL,
  priority  integer NOT NULL,
  scheduled boolean NOT NULL,
  queue     text    COLLATE "C" NOT NULL,
  kind      text    COLLATE "C" NOT NULL,
  set_aside text    COLLATE "C"
) WITH (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_cost_delay = 0);

CREATE INDEX outbox_window ON {schema}.outbox (queue, kind, priority, due, sequence) WHERE set_aside IS NULL;
CREATE INDEX outbox_scheduled ON {schema}.outbox (due) WHERE scheduled AND set_aside IS NULL;

-- Jobs in `retry_wait`.
CREATE TABLE {schema}.retry_wait (
  due bigint NOT NULL,
  job uuid   NOT NULL,
  PRIMARY KEY (due, job)
) WITH (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_cost_delay = 0);

-- Attempts with authority. checkpoint_revision, resumed_from: what it inherited (0: nothing). progress: its own
-- count of sealed checkpoints, those inherited counted. revision: the job's, at the claim.
CREATE TABLE {schema}.running (
  attempt             uuid    PRIMARY KEY,
  job                 uuid    NOT NULL UNIQUE,
  worker              uuid    NOT NULL,
  reservation         uuid    NOT NULL,
  epoch               bigint  NOT NULL,
  started_at          bigint  NOT NULL,
  checkpoint_revision bigint  NOT NULL,
  resumed_from        bigint  NOT NULL,
  progress            bigint  NOT NULL,
  revision            bigint  NOT NULL,
  cancel_requested_at bigint,
  token               integer NOT NULL
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_cost_delay = 0);

-- The last checkpoint of a job and the one its running attempt inherited. The documents go when the job ends;
-- the row stays, so that a repeated request still finds its answer.
CREATE TABLE {schema}.checkpoint (
  job                  uuid    NOT NULL,
  revision             bigint  NOT NULL,
  attempt              uuid    NOT NULL,
  progress             bigint  NOT NULL,
  at                   bigint  NOT NULL,
  invalidated_revision bigint,
  token                integer NOT NULL,
  user_progress        text    COLLATE "C" NOT NULL,
  invalidated_because  text    COLLATE "C",
  state                bytea,
  manifest             bytea,
  PRIMARY KEY (job, revision)
) WITH (fillfactor = 70);

-- The ledger: one row per ended attempt, written once. revision, phase_after, due: the answer its end was given.
CREATE TABLE {schema}.attempt (
  job          uuid    NOT NULL,
  attempt      uuid    NOT NULL,
  worker       uuid    NOT NULL,
  started_at   bigint  NOT NULL,
  ended_at     bigint  NOT NULL,
  resumed_from bigint  NOT NULL,
  revision     bigint  NOT NULL,
  due          bigint,
  token        integer NOT NULL,
  exit_code    integer,
  exit_signal  integer,
  verdict      text    COLLATE "C" NOT NULL CHECK (verdict IN
    ('succeeded', 'cancelled', 'failed', 'timed_out', 'drained', 'bad_checkpoint', 'permanent', 'lost')),
  phase_after  text    COLLATE "C" NOT NULL,
  PRIMARY KEY (job, attempt)
);

-- Error texts of the job's last attempts.
CREATE TABLE {schema}.attempt_error (
  job   uuid    NOT NULL,
  token integer NOT NULL,
  error text    COLLATE "C" NOT NULL,
  PRIMARY KEY (job, token)
);

-- Stages of ended attempts that a sweep may still have to visit; owed: how often. Not the spec's state.
CREATE TABLE {schema}.stage (
  job       uuid    NOT NULL,
  attempt   uuid    NOT NULL,
  ended_at  bigint  NOT NULL,
  token     integer NOT NULL,
  owed      integer NOT NULL CHECK (owed >= 0),
  stopped   boolean NOT NULL,
  committed boolean NOT NULL,
  PRIMARY KEY (job, attempt)
) WITH (autovacuum_vacuum_scale_factor = 0.01);

CREATE INDEX stage_owed ON {schema}.stage (stopped DESC, ended_at, attempt) WHERE owed > 0;

-- The published result.
CREATE TABLE {schema}.result (
  job      uuid    PRIMARY KEY,
  attempt  uuid    NOT NULL,
  at       bigint  NOT NULL,
  files    bigint  NOT NULL,
  bytes    bigint  NOT NULL,
  token    integer NOT NULL,
  digest   bytea   NOT NULL CHECK (length(digest) = 32),
  manifest bytea   NOT NULL
);

-- Jobs that have ended, by how: lists of them need not walk over all others. Written once per job.
CREATE TABLE {schema}.ended (
  phase text COLLATE "C" NOT NULL,
  job   uuid NOT NULL,
  PRIMARY KEY (phase, job)
);

-- How many jobs have ended, as a sum of rows that are only added: a counter that is updated would make all ends of a
-- queue wait for one another. `fold_counts.sql` adds rows up.
CREATE TABLE {schema}.ended_count (
  queue text   COLLATE "C" NOT NULL,
  phase text   COLLATE "C" NOT NULL,
  jobs  bigint NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_cost_delay = 0);

-- The store's clock, in milliseconds, unless a time is given: tests do.
CREATE FUNCTION {schema}.now_ms(given bigint) RETURNS bigint LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT coalesce(given, floor(extract(epoch FROM statement_timestamp()) * 1000)::bigint)
$$;

-- When a retry is due (protocol §4): chance, of 0 to 2^64 - 1, scaled to the widest delay after the n-th failure. Never
-- past the year 9999, never an overflow.
CREATE FUNCTION {schema}.retry_due(now bigint, base_ms bigint, cap_ms bigint, failure integer, chance numeric)
RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT least(
    now + div(
      chance * (least(cap_ms::numeric, base_ms::numeric * (1::bigint << least(greatest(failure - 1, 0), 62))) + 1),
      18446744073709551616),
    253402300799999)::bigint
$$;

-- TerminalStateIsImmutable and FencingTokensMonotonic, whatever statement comes.
CREATE FUNCTION {schema}.refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.finished_at IS NOT NULL THEN
    RAISE EXCEPTION 'a terminal job never changes';
  END IF;
  RAISE EXCEPTION 'a fencing token never falls';
END
$$;

CREATE TRIGGER job_never_goes_back BEFORE UPDATE ON {schema}.job FOR EACH ROW
WHEN (OLD.finished_at IS NOT NULL OR NEW.token < OLD.token)
EXECUTE FUNCTION {schema}.refuse_change();
