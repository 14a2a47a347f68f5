-- Who raised the pool's epoch, 16 bytes: of two that ask for the same move one is told that it did it, and installs what
-- it raised.
ALTER TABLE pool ADD COLUMN raised_by BLOB CHECK (length(raised_by) = 16);
