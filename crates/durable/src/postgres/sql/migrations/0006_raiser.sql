-- Who raised the pool's epoch: of two that ask for the same move one is told that it did it, and installs what it raised.
ALTER TABLE {schema}.pool ADD COLUMN raised_by uuid;
