-- make_ledger: writes the schema's one logged table: which release made the rest.
CREATE TABLE IF NOT EXISTS {schema}.made (version integer NOT NULL, digest text NOT NULL)
