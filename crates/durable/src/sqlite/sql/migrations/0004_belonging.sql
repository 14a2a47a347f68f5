-- Whose store this is, and where it publishes.
--
-- installation: made here by chance, 16 bytes, never changed; coordination remembers it, so that two installations in one
-- pool are told apart. target: the id in the marker of the target that was named first; a process with another one is
-- refused.
ALTER TABLE pool ADD COLUMN installation BLOB CHECK (length(installation) = 16);
ALTER TABLE pool ADD COLUMN target BLOB CHECK (length(target) = 16);
UPDATE pool SET installation = randomblob(16);
