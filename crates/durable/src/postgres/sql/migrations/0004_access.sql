-- Who may speak to the API, and who did what. Not the spec's state.

-- Tokens, by what BLAKE3 makes of them.
CREATE TABLE {schema}.token (
  id           text   COLLATE "C" PRIMARY KEY,
  name         text   COLLATE "C" NOT NULL,
  scopes       text   COLLATE "C" NOT NULL,
  digest       bytea  NOT NULL CHECK (length(digest) = 32),
  created_at   bigint NOT NULL,
  expires_at   bigint,
  last_used_at bigint
);

-- What was asked for, by whom, and what came of it; number: in the order of writing, never reused.
CREATE TABLE {schema}.trail (
  number  bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id      uuid   NOT NULL UNIQUE,
  at      bigint NOT NULL,
  token   text   COLLATE "C",
  who     text   COLLATE "C" NOT NULL,
  origin  text   COLLATE "C" NOT NULL,
  scope   text   COLLATE "C" NOT NULL,
  action  text   COLLATE "C" NOT NULL,
  object  text   COLLATE "C" NOT NULL,
  outcome text   COLLATE "C" NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0.05);

CREATE INDEX trail_scope ON {schema}.trail (scope, number);
