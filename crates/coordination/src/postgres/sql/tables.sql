-- tables: what a schema holds. All of it but `made` is UNLOGGED: a crash of the server, a failover and a restored backup
-- empty it, and that is LoseCoordinationState.
-- Hot rows keep room on their pages, no column that changes often is in an index, and dead rows are taken away early.
-- Numbers that may pass 2^63 are kept in the order of their bits (sequence) or as they are (checkpoint_revision).

-- One row a pool: whoever decides anything of a pool locks it first.
--   home: the table that the row was written to; a copy in another one is not believed.
--   installation: whose pool it is; null for nobody's.
--   freed: whether the end of the grace gave places back; false but while a function works.
CREATE UNLOGGED TABLE {schema}.pool (
  name            text COLLATE "C" PRIMARY KEY,
  number          integer  GENERATED ALWAYS AS IDENTITY UNIQUE,
  home            oid      NOT NULL,
  epoch           bigint   NOT NULL DEFAULT 0,
  revision        bigint   NOT NULL DEFAULT 0,
  now_ms          bigint   NOT NULL DEFAULT 0,
  open            boolean  NOT NULL DEFAULT false,
  began_ms        bigint   NOT NULL DEFAULT 0,
  in_grace        boolean  NOT NULL DEFAULT true,
  config_revision bigint   NOT NULL DEFAULT 0,
  global_limit    bigint   NOT NULL DEFAULT 0,
  lease_ms        bigint   NOT NULL DEFAULT 15000,
  paused          text[] COLLATE "C" NOT NULL DEFAULT '{}',
  ended           bigint   NOT NULL DEFAULT 0,
  last_window     integer  NOT NULL DEFAULT 0,
  freed           boolean  NOT NULL DEFAULT false,
  installation    uuid
) WITH (fillfactor = 10, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 200,
        autovacuum_vacuum_cost_delay = 0);

-- Windows that have entries, and how many.
CREATE UNLOGGED TABLE {schema}.queue_window (
  pool     integer  NOT NULL,
  number   integer  NOT NULL,
  kind     text COLLATE "C" NOT NULL,
  queue    text COLLATE "C" NOT NULL,
  priority integer  NOT NULL,
  entries  integer  NOT NULL,
  PRIMARY KEY (pool, number),
  UNIQUE (pool, kind, queue, priority)
) WITH (fillfactor = 30, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 200,
        autovacuum_vacuum_cost_delay = 0);

CREATE UNLOGGED TABLE {schema}.entry (
  pool                integer NOT NULL,
  job                 uuid    NOT NULL,
  window_number       integer NOT NULL,
  due                 bigint  NOT NULL,
  sequence            bigint  NOT NULL,
  checkpoint_revision bigint  NOT NULL,
  PRIMARY KEY (pool, job)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);
CREATE UNIQUE INDEX entry_place ON {schema}.entry (pool, window_number, due, sequence, job);

CREATE UNLOGGED TABLE {schema}.reservation (
  pool                integer NOT NULL,
  id                  uuid    NOT NULL,
  job                 uuid    NOT NULL,
  worker              uuid    NOT NULL,
  kind                text COLLATE "C" NOT NULL,
  queue               text COLLATE "C" NOT NULL,
  priority            integer NOT NULL,
  checkpoint_revision bigint  NOT NULL,
  deadline_ms         bigint  NOT NULL,
  PRIMARY KEY (pool, id),
  UNIQUE (pool, job)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500,
        autovacuum_vacuum_cost_delay = 0);

-- How the last reservations ended, so that a repeated request gets the same answer.
CREATE UNLOGGED TABLE {schema}.ended (
  pool   integer NOT NULL,
  id     uuid    NOT NULL,
  number bigint  NOT NULL,
  job    uuid    NOT NULL,
  worker uuid    NOT NULL,
  how    text COLLATE "C" NOT NULL,
  PRIMARY KEY (pool, id)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);
CREATE UNIQUE INDEX ended_number ON {schema}.ended (pool, number);

-- born: the pool's revision at its beginning. shown, said: whether the job shows this attempt's progress, and what.
CREATE UNLOGGED TABLE {schema}.lease (
  pool             integer NOT NULL,
  attempt          uuid    NOT NULL,
  job              uuid    NOT NULL,
  token            bigint  NOT NULL,
  worker           uuid    NOT NULL,
  born             bigint  NOT NULL,
  renewal_recorded boolean NOT NULL DEFAULT false,
  renewed_ms       bigint  NOT NULL,
  deadline_ms      bigint  NOT NULL,
  shown            boolean NOT NULL DEFAULT true,
  said             text,
  PRIMARY KEY (pool, attempt)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500,
        autovacuum_vacuum_cost_delay = 0);
CREATE INDEX lease_job ON {schema}.lease (pool, job);

CREATE UNLOGGED TABLE {schema}.notice (
  pool integer NOT NULL,
  job  uuid    NOT NULL,
  PRIMARY KEY (pool, job)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_cost_delay = 0);

CREATE UNLOGGED TABLE {schema}.unaccounted (
  pool    integer NOT NULL,
  attempt uuid    NOT NULL,
  PRIMARY KEY (pool, attempt)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_cost_delay = 0);

-- Attempts whose stay in this epoch ended, until the grace does.
CREATE UNLOGGED TABLE {schema}.gone (
  pool    integer NOT NULL,
  attempt uuid    NOT NULL,
  by_age  boolean NOT NULL,
  PRIMARY KEY (pool, attempt)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_cost_delay = 0);

CREATE UNLOGGED TABLE {schema}.worker (
  pool         integer NOT NULL,
  id           uuid    NOT NULL,
  registration text    NOT NULL,
  serves_queues text[] COLLATE "C",
  serves_kinds text[] COLLATE "C" NOT NULL,
  draining     boolean NOT NULL,
  asked_to_drain boolean NOT NULL DEFAULT false,
  seen_ms      bigint  NOT NULL,
  PRIMARY KEY (pool, id)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 200,
        autovacuum_vacuum_cost_delay = 0);

-- What every function answers with: a row for each step, and at last one that is the pool's (the head: epoch, revision,
-- lease_ms, global_limit, freed). `guard` is null when the step was taken; `recorded` is false for a repeat and for a
-- look in vain, which are no events.
CREATE TYPE {schema}.step AS (
  epoch               bigint,
  revision            bigint,
  lease_ms            bigint,
  global_limit        bigint,
  freed               boolean,
  guard               text,
  recorded            boolean,
  in_use              bigint,
  job                 uuid,
  attempt             uuid,
  worker              uuid,
  token               bigint,
  reservation         uuid,
  kind                text,
  queue               text,
  priority            integer,
  checkpoint_revision bigint,
  entries             integer,
  flag                boolean,
  drain               boolean
);
