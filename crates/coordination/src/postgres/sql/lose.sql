-- lose: LoseCoordinationState, on purpose: this pool's epoch and state are gone. Atomic: the whole.
-- Takes: pool.
-- Answers: epoch (that was; 0 for none), revision (its last).
CREATE OR REPLACE FUNCTION {schema}.lose(pool_name text, OUT epoch bigint, OUT revision bigint)
LANGUAGE plpgsql AS $$
DECLARE
  here {schema}.pool;
BEGIN
  SELECT p.* INTO here FROM {schema}.pool p WHERE p.name = pool_name FOR UPDATE;
  epoch := coalesce(here.epoch, 0);
  revision := coalesce(here.revision, 0);
  IF here.number IS NOT NULL THEN
    PERFORM {schema}.forget(here.number);
    DELETE FROM {schema}.pool p WHERE p.name = pool_name;
  END IF;
END
$$;
