-- renew: a live lease is young again. Takes: the pool's row, the attempt. Writes lease.
CREATE OR REPLACE FUNCTION {schema}.renew(here {schema}.pool, of_attempt uuid) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE {schema}.lease l SET renewed_ms = here.now_ms, deadline_ms = here.now_ms + here.lease_ms
  WHERE l.pool = here.number AND l.attempt = of_attempt;
END
$$;
