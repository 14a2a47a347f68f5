-- A role that does the daily work and nothing else: it can neither change the schema nor see other schemas through it.
-- Run by whoever owns the schema, after `remora migrate up`, for a role that is there ({role}); again after each one.
GRANT USAGE ON SCHEMA {schema} TO {role};
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {schema} TO {role};
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA {schema} TO {role};
REVOKE INSERT, UPDATE, DELETE ON {schema}.migration FROM {role};
REVOKE INSERT, DELETE ON {schema}.pool FROM {role};
