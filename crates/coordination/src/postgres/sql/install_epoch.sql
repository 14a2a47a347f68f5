-- install_epoch: a new lifetime of the pool, opening, when the store's is lower or gone; never over the pool of another
-- installation. Atomic: the whole.
-- Takes: pool, the epoch to install, now, the revision to begin with: above all that were seen of this epoch,
-- the installation.
-- Writes pool; takes all that the older epoch held.
-- Answers: epoch (the store's now), installed (just now).
CREATE OR REPLACE FUNCTION {schema}.install_epoch(
  pool_name text, wanted bigint, clock_ms bigint, first_revision bigint, claimant uuid,
  OUT epoch bigint, OUT installed boolean)
LANGUAGE plpgsql AS $$
DECLARE
  here {schema}.pool;
  here_now bigint := coalesce(clock_ms, (date_part('epoch', clock_timestamp()) * 1000)::bigint);
BEGIN
  LOOP
    INSERT INTO {schema}.pool AS p (name, home) VALUES (pool_name, 0) ON CONFLICT (name) DO NOTHING;
    SELECT p.* INTO here FROM {schema}.pool p WHERE p.name = pool_name FOR UPDATE;
    EXIT WHEN FOUND;
  END LOOP;
  installed := here.home <> '{schema}.pool'::regclass
    OR (here.epoch < wanted AND coalesce(here.installation, claimant) = claimant);
  IF NOT installed THEN
    epoch := here.epoch;
    RETURN;
  END IF;
  PERFORM {schema}.forget(here.number);
  UPDATE {schema}.pool p
  SET home = p.tableoid, epoch = wanted, revision = first_revision, now_ms = here_now, open = false, began_ms = here_now,
    in_grace = true, config_revision = 0, global_limit = 0, lease_ms = 15000, paused = '{}', ended = 0, last_window = 0,
    installation = claimant
  WHERE p.name = pool_name;
  epoch := wanted;
END
$$;
