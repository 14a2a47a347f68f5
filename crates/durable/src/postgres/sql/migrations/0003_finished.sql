-- Ends in the order of time, for rates.
ALTER TABLE {schema}.ended ADD COLUMN at bigint;
UPDATE {schema}.ended e SET at = j.finished_at FROM {schema}.job j WHERE j.job = e.job;
ALTER TABLE {schema}.ended ALTER COLUMN at SET NOT NULL;
CREATE INDEX ended_at ON {schema}.ended (at);
