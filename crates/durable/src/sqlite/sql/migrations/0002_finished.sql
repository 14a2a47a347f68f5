-- Ends in the order of time, for rates.
CREATE INDEX job_finished ON job (finished_at, phase) WHERE finished_at IS NOT NULL;
