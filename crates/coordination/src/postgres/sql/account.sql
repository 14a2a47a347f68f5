-- account: attempts that durable shows running are counted, until their leases come back. Atomic: the whole.
-- Takes: pool, epoch believed, now; attempts (≤ 64).
-- Writes unaccounted, pool.
-- Rows, one: nothing more | opening (the pool is open already).
CREATE OR REPLACE FUNCTION {schema}.account(pool_name text, believed bigint, clock_ms bigint, attempts uuid[])
RETURNS SETOF {schema}.step LANGUAGE plpgsql AS $$
DECLARE
  here {schema}.pool := {schema}.arrive(pool_name, believed, clock_ms);
  step {schema}.step;
BEGIN
  IF here.epoch = believed AND believed > 0 THEN
    step.recorded := false;
    IF here.open THEN
      step.guard := 'opening';
    ELSE
      here.revision := here.revision + 1;
      IF here.in_grace THEN
        INSERT INTO {schema}.unaccounted (pool, attempt)
        SELECT here.number, a.attempt FROM unnest(attempts) AS a (attempt)
        WHERE NOT EXISTS (SELECT FROM {schema}.lease l WHERE l.pool = here.number AND l.attempt = a.attempt)
          AND NOT EXISTS (SELECT FROM {schema}.gone g WHERE g.pool = here.number AND g.attempt = a.attempt)
        ON CONFLICT (pool, attempt) DO NOTHING;
      END IF;
    END IF;
    step.revision := here.revision;
    RETURN NEXT step;
  END IF;
  RETURN NEXT {schema}.leave(here, believed);
END
$$;
