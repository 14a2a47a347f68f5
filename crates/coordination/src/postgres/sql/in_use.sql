-- in_use: places in use, derived from what is held and never counted by hand. Takes: the pool's number.
CREATE OR REPLACE FUNCTION {schema}.in_use(pool_number integer) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
  RETURN (SELECT count(*) FROM {schema}.reservation r WHERE r.pool = pool_number)
    + (SELECT count(*) FROM {schema}.lease l WHERE l.pool = pool_number)
    + (SELECT count(*) FROM {schema}.unaccounted u WHERE u.pool = pool_number);
END
$$;
