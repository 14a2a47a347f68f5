-- The first schema. Forward only: a change is a new file, never an edit of this one (files are checksummed).
--
-- What a hot step touches is small. The job's row has no index on a column that changes; who waits, who runs and
-- who waits for a retry are tables of their own that hold only such jobs; the ledger of attempts is written once,
-- at an attempt's end; what a job asks for lies beside its row and is written once.
-- Ids are 16 bytes, times milliseconds since 1970, truth values 0 and 1.

-- The pool's epoch and configuration. One row. `raised_from` makes the epoch's compare-and-swap repeatable.
CREATE TABLE pool (
  only            INTEGER PRIMARY KEY CHECK (only = 1),
  name            TEXT    NOT NULL,
  epoch           INTEGER NOT NULL CHECK (epoch >= 1),
  open            INTEGER NOT NULL CHECK (open IN (0, 1)),
  raised_from     INTEGER NOT NULL DEFAULT 0,
  lease_ms        INTEGER NOT NULL CHECK (lease_ms BETWEEN 500 AND 3600000),
  global_limit    INTEGER NOT NULL CHECK (global_limit BETWEEN 1 AND 1000000),
  config_revision INTEGER NOT NULL DEFAULT 1,
  revision        INTEGER NOT NULL DEFAULT 1
) STRICT;

CREATE TABLE paused_queue (
  queue TEXT PRIMARY KEY
) STRICT, WITHOUT ROWID;

-- The spec's durable variables of a job, and what people see of it in a list.
--   attempt: the spec's `authority`.   progress, checkpoint_valid: the spec's `checkpoint`, `checkpointValid`;
--   a succeeded job's checkpoint is complete by its phase.   losses: workers lost in a row.
--   retried_by, retried: the last `retry` that moved this very job, so that it can be repeated.
CREATE TABLE job (
  job                 BLOB    PRIMARY KEY CHECK (length(job) = 16),
  kind                TEXT    NOT NULL,
  queue               TEXT    NOT NULL,
  priority            INTEGER NOT NULL CHECK (priority BETWEEN 1 AND 4),
  phase               TEXT    NOT NULL CHECK (phase IN
    ('queued', 'running', 'retry_wait', 'cancelling', 'succeeded', 'failed', 'cancelled')),
  revision            INTEGER NOT NULL DEFAULT 1,
  cancel_requested    INTEGER NOT NULL DEFAULT 0 CHECK (cancel_requested IN (0, 1)),
  token               INTEGER NOT NULL DEFAULT 0,
  max_attempts        INTEGER NOT NULL CHECK (max_attempts BETWEEN 1 AND 32767),
  attempt             BLOB    CHECK (length(attempt) = 16),
  progress            INTEGER NOT NULL DEFAULT 0,
  checkpoint_valid    INTEGER NOT NULL DEFAULT 0 CHECK (checkpoint_valid IN (0, 1)),
  checkpoint_revision INTEGER NOT NULL DEFAULT 0,
  user_progress       TEXT,
  losses              INTEGER NOT NULL DEFAULT 0,
  retry_base_ms       INTEGER NOT NULL,
  retry_cap_ms        INTEGER NOT NULL,
  created_at          INTEGER NOT NULL,
  due_at              INTEGER NOT NULL,
  finished_at         INTEGER,
  retry_of            BLOB    CHECK (length(retry_of) = 16),
  retried_by          BLOB    CHECK (length(retried_by) = 16),
  retried             TEXT    CHECK (retried IN ('due_now', 'offered')),
  words               TEXT,
  CHECK (token <= max_attempts),
  CHECK ((phase IN ('running', 'cancelling')) = (attempt IS NOT NULL)),
  CHECK ((phase IN ('succeeded', 'failed', 'cancelled')) = (finished_at IS NOT NULL)),
  CHECK (phase NOT IN ('queued', 'running', 'retry_wait', 'succeeded', 'failed') OR NOT cancel_requested),
  CHECK (phase NOT IN ('cancelling', 'cancelled') OR cancel_requested)
) STRICT, WITHOUT ROWID;

-- Written once per job, at its end: lists of ended jobs need not walk over all others.
CREATE INDEX job_ended ON job (phase, job) WHERE finished_at IS NOT NULL;

-- What the job asks for, as JSON of the whole submission.
CREATE TABLE job_spec (
  job  BLOB PRIMARY KEY REFERENCES job (job),
  spec TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE idempotency (
  key TEXT PRIMARY KEY,
  job BLOB NOT NULL REFERENCES job (job)
) STRICT, WITHOUT ROWID;

-- A row exists exactly while `dispatchNeeded`. `scheduled`: it was not due yet when it came in.
CREATE TABLE outbox (
  sequence  INTEGER PRIMARY KEY AUTOINCREMENT,
  job       BLOB    NOT NULL UNIQUE REFERENCES job (job),
  queue     TEXT    NOT NULL,
  kind      TEXT    NOT NULL,
  priority  INTEGER NOT NULL,
  due       INTEGER NOT NULL,
  scheduled INTEGER NOT NULL CHECK (scheduled IN (0, 1)),
  set_aside TEXT
) STRICT;

CREATE INDEX outbox_window ON outbox (queue, kind, priority, due, sequence) WHERE set_aside IS NULL;
CREATE INDEX outbox_scheduled ON outbox (due) WHERE scheduled AND set_aside IS NULL;

-- Jobs in `retry_wait`.
CREATE TABLE retry_wait (
  due INTEGER NOT NULL,
  job BLOB    NOT NULL REFERENCES job (job),
  PRIMARY KEY (due, job)
) STRICT, WITHOUT ROWID;

-- Attempts with authority. checkpoint_revision, resumed_from: what it inherited (0: nothing). progress: its own
-- count of sealed checkpoints, those inherited counted. revision: the job's, at the claim.
CREATE TABLE running (
  attempt             BLOB    PRIMARY KEY CHECK (length(attempt) = 16),
  job                 BLOB    NOT NULL UNIQUE REFERENCES job (job),
  token               INTEGER NOT NULL,
  worker              BLOB    NOT NULL CHECK (length(worker) = 16),
  reservation         BLOB    NOT NULL CHECK (length(reservation) = 16),
  epoch               INTEGER NOT NULL,
  started_at          INTEGER NOT NULL,
  checkpoint_revision INTEGER NOT NULL,
  resumed_from        INTEGER NOT NULL,
  progress            INTEGER NOT NULL,
  revision            INTEGER NOT NULL,
  cancel_requested_at INTEGER
) STRICT, WITHOUT ROWID;

-- The last checkpoint of a job and the one its running attempt inherited. The documents go when the job ends;
-- the row stays, so that a repeated request still finds its answer.
CREATE TABLE checkpoint (
  job                  BLOB    NOT NULL REFERENCES job (job),
  revision             INTEGER NOT NULL,
  attempt              BLOB    NOT NULL,
  token                INTEGER NOT NULL,
  progress             INTEGER NOT NULL,
  user                 TEXT    NOT NULL,
  at                   INTEGER NOT NULL,
  invalidated_revision INTEGER,
  invalidated_because  TEXT,
  state                BLOB,
  manifest             BLOB,
  PRIMARY KEY (job, revision)
) STRICT;

-- The ledger: one row per ended attempt, written once. revision, phase_after, due: the answer its end was given.
CREATE TABLE attempt (
  job          BLOB    NOT NULL REFERENCES job (job),
  attempt      BLOB    NOT NULL,
  token        INTEGER NOT NULL,
  worker       BLOB    NOT NULL,
  started_at   INTEGER NOT NULL,
  ended_at     INTEGER NOT NULL,
  verdict      TEXT    NOT NULL CHECK (verdict IN
    ('succeeded', 'cancelled', 'failed', 'timed_out', 'drained', 'bad_checkpoint', 'permanent', 'lost')),
  exit_code    INTEGER,
  exit_signal  INTEGER,
  resumed_from INTEGER NOT NULL,
  revision     INTEGER NOT NULL,
  phase_after  TEXT    NOT NULL,
  due          INTEGER,
  PRIMARY KEY (job, attempt)
) STRICT, WITHOUT ROWID;

-- Error texts of the job's last attempts.
CREATE TABLE attempt_error (
  job   BLOB    NOT NULL REFERENCES job (job),
  token INTEGER NOT NULL,
  error TEXT    NOT NULL,
  PRIMARY KEY (job, token)
) STRICT;

-- Stages of ended attempts that a sweep may still have to visit; owed: how often. Not the spec's state.
CREATE TABLE stage (
  job       BLOB    NOT NULL REFERENCES job (job),
  attempt   BLOB    NOT NULL,
  token     INTEGER NOT NULL,
  ended_at  INTEGER NOT NULL,
  stopped   INTEGER NOT NULL CHECK (stopped IN (0, 1)),
  committed INTEGER NOT NULL CHECK (committed IN (0, 1)),
  owed      INTEGER NOT NULL CHECK (owed >= 0),
  PRIMARY KEY (job, attempt)
) STRICT, WITHOUT ROWID;

CREATE INDEX stage_owed ON stage (stopped DESC, ended_at, attempt) WHERE owed > 0;

-- The published result.
CREATE TABLE result (
  job      BLOB    PRIMARY KEY REFERENCES job (job),
  attempt  BLOB    NOT NULL,
  token    INTEGER NOT NULL,
  at       INTEGER NOT NULL,
  files    INTEGER NOT NULL,
  bytes    INTEGER NOT NULL,
  digest   BLOB    NOT NULL CHECK (length(digest) = 32),
  manifest BLOB    NOT NULL
) STRICT;

-- Jobs per queue and phase, kept exact by the two triggers below.
CREATE TABLE phase_count (
  queue TEXT    NOT NULL,
  phase TEXT    NOT NULL,
  jobs  INTEGER NOT NULL CHECK (jobs >= 0),
  PRIMARY KEY (queue, phase)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER job_arrives AFTER INSERT ON job BEGIN
  INSERT INTO phase_count (queue, phase, jobs) VALUES (new.queue, new.phase, 1)
  ON CONFLICT (queue, phase) DO UPDATE SET jobs = jobs + 1;
END;

CREATE TRIGGER job_moves AFTER UPDATE OF phase ON job WHEN old.phase <> new.phase BEGIN
  UPDATE phase_count SET jobs = jobs - 1 WHERE queue = old.queue AND phase = old.phase;
  INSERT INTO phase_count (queue, phase, jobs) VALUES (new.queue, new.phase, 1)
  ON CONFLICT (queue, phase) DO UPDATE SET jobs = jobs + 1;
END;

-- TerminalStateIsImmutable and FencingTokensMonotonic, whatever statement comes.
CREATE TRIGGER job_terminal_state_is_immutable BEFORE UPDATE ON job WHEN old.finished_at IS NOT NULL BEGIN
  SELECT RAISE(ABORT, 'a terminal job never changes');
END;

CREATE TRIGGER job_fencing_tokens_monotonic BEFORE UPDATE OF token ON job WHEN new.token < old.token BEGIN
  SELECT RAISE(ABORT, 'a fencing token never falls');
END;
