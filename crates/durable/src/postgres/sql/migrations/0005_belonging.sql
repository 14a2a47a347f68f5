-- Whose store this is, and where it publishes.
--
-- installation: made here by chance, never changed; coordination remembers it, so that two installations in one pool are
-- told apart. target: the id in the marker of the target that was named first; a process with another one is refused.
ALTER TABLE {schema}.pool
  ADD COLUMN installation uuid NOT NULL DEFAULT gen_random_uuid(),
  ADD COLUMN target       uuid;
