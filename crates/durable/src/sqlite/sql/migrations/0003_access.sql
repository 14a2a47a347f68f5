-- Who may speak to the API, and who did what. Not the spec's state.

-- Tokens, by what BLAKE3 makes of them.
CREATE TABLE token (
  id           TEXT    PRIMARY KEY,
  name         TEXT    NOT NULL,
  scopes       TEXT    NOT NULL,
  digest       BLOB    NOT NULL CHECK (length(digest) = 32),
  created_at   INTEGER NOT NULL,
  expires_at   INTEGER,
  last_used_at INTEGER
) STRICT;

-- What was asked for, by whom, and what came of it; number: in the order of writing, never reused.
CREATE TABLE trail (
  number  INTEGER PRIMARY KEY AUTOINCREMENT,
  id      BLOB    NOT NULL UNIQUE CHECK (length(id) = 16),
  at      INTEGER NOT NULL,
  token   TEXT,
  who     TEXT    NOT NULL,
  origin  TEXT    NOT NULL,
  scope   TEXT    NOT NULL,
  action  TEXT    NOT NULL,
  object  TEXT    NOT NULL,
  outcome TEXT    NOT NULL
) STRICT;

CREATE INDEX trail_scope ON trail (scope, number);
