-- forget: all that a pool holds is gone, but its own row. Takes: the pool's number.
CREATE OR REPLACE FUNCTION {schema}.forget(pool_number integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM {schema}.queue_window o WHERE o.pool = pool_number;
  DELETE FROM {schema}.entry o WHERE o.pool = pool_number;
  DELETE FROM {schema}.reservation o WHERE o.pool = pool_number;
  DELETE FROM {schema}.ended o WHERE o.pool = pool_number;
  DELETE FROM {schema}.lease o WHERE o.pool = pool_number;
  DELETE FROM {schema}.notice o WHERE o.pool = pool_number;
  DELETE FROM {schema}.unaccounted o WHERE o.pool = pool_number;
  DELETE FROM {schema}.gone o WHERE o.pool = pool_number;
  DELETE FROM {schema}.worker o WHERE o.pool = pool_number;
END
$$;
