-- make_schema: writes the schema.
CREATE SCHEMA IF NOT EXISTS {schema}
