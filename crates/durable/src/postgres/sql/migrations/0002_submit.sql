-- Submit from SQL, inside the user's own transaction: committed means accepted, rolled back means never asked.
--
-- Writes job, job_spec, outbox, idempotency, as `submit.sql` does, with the rights of the schema's owner: a role that may
-- use the schema and run this function needs no right on the tables. The same checks at the door as everywhere, with the
-- same words. A known idempotency key, or job id, of the same request gives that job; of another request it is an error.
--   args: JSON text, kept digit for digit.   job: an id made by the caller, who can then send the same request again.
-- Wakes nobody, unless the setting `remora.notify` is `on` (for a transaction, a role or a database): a notification at
-- commit makes all commits wait for one another. It goes to the channel named like the schema, once a transaction.
CREATE FUNCTION {schema}.submit(
  kind            text,
  args            json        DEFAULT 'null',
  queue           text        DEFAULT 'default',
  priority        integer     DEFAULT 2,
  max_attempts    integer     DEFAULT 25,
  scheduled_at    timestamptz DEFAULT NULL,
  idempotency_key text        DEFAULT NULL,
  timeout_ms      bigint      DEFAULT NULL,
  retry_base_ms   bigint      DEFAULT 2000,
  retry_cap_ms    bigint      DEFAULT 300000,
  job             uuid        DEFAULT NULL
) RETURNS uuid LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_variable
DECLARE
  now_ms   bigint := {schema}.now_ms(NULL);
  at_ms    bigint := floor(extract(epoch FROM scheduled_at) * 1000);
  due_ms   bigint := greatest(floor(extract(epoch FROM scheduled_at) * 1000)::bigint, now_ms);
  new_job  uuid   := coalesce(job, {schema}.new_id(now_ms));
  asked    jsonb;
  spec     text;
  known    uuid;
  earlier  text;
BEGIN
  PERFORM {schema}.check_name('kind', kind), {schema}.check_name('queue', queue);
  PERFORM {schema}.check_that(octet_length(args::text) <= 1048576, 'args',
    format('%s bytes long', octet_length(args::text)), 'at most 1048576 bytes');
  PERFORM {schema}.check_that(priority BETWEEN 1 AND 4, 'priority', priority::text, '1 (first) to 4');
  PERFORM {schema}.check_that(max_attempts BETWEEN 1 AND 32767, 'max_attempts', max_attempts::text, '1 to 32767');
  PERFORM {schema}.check_that(at_ms IS NULL OR at_ms BETWEEN -62135596800000 AND 253402300799999, 'scheduled_at',
    at_ms::text || ' ms since 1970', 'a time in the years 1 to 9999');
  PERFORM {schema}.check_that(timeout_ms IS NULL OR timeout_ms > 0, 'timeout', timeout_ms::text || ' ms', 'at least 1 ms');
  PERFORM {schema}.check_that(retry_base_ms >= 0 AND retry_base_ms <= retry_cap_ms, 'retry_base',
    retry_base_ms::text || ' ms', format('at most retry_cap, which is %s ms', retry_cap_ms));
  PERFORM {schema}.check_that(idempotency_key IS NULL OR octet_length(idempotency_key) BETWEEN 1 AND 256,
    'idempotency_key', format('%s bytes long', octet_length(idempotency_key)), '1 to 256 bytes');
  BEGIN
    asked := args::jsonb;
  EXCEPTION WHEN untranslatable_character OR invalid_text_representation THEN
    PERFORM {schema}.check_that(false, 'args', 'JSON with a NUL or half of a surrogate pair', 'one JSON value');
  END;
  spec := json_build_object(
    'kind', kind, 'queue', queue, 'priority', priority, 'args', coalesce(args::text, 'null'), 'command', NULL,
    'max_attempts', max_attempts, 'scheduled_at', at_ms, 'timeout_ms', timeout_ms,
    'retry', json_build_object('base_ms', retry_base_ms, 'cap_ms', retry_cap_ms),
    'idempotency_key', idempotency_key)::text;
  -- Whoever is just writing the same key or id is waited for: then it is known.
  IF idempotency_key IS NOT NULL THEN
    INSERT INTO {schema}.idempotency AS k (key, job) VALUES (idempotency_key, new_job) ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
      SELECT k.job INTO known FROM {schema}.idempotency k WHERE k.key = idempotency_key;
    END IF;
  END IF;
  IF known IS NULL THEN
    INSERT INTO {schema}.job AS j (job, kind, queue, priority, max_attempts, retry_base_ms, retry_cap_ms, created_at, due_at)
    VALUES (new_job, kind, queue, priority, max_attempts, retry_base_ms, retry_cap_ms, now_ms, coalesce(due_ms, now_ms))
    ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
      known := new_job;
    END IF;
  END IF;
  IF known IS NOT NULL THEN
    SELECT s.spec INTO earlier FROM {schema}.job_spec s WHERE s.job = known;
    IF earlier::jsonb IS DISTINCT FROM spec::jsonb THEN
      RAISE EXCEPTION 'same_request: % stands for another request', coalesce(idempotency_key, known::text)
        USING ERRCODE = 'unique_violation';
    END IF;
    RETURN known;
  END IF;
  INSERT INTO {schema}.job_spec AS s (job, spec) VALUES (new_job, spec);
  INSERT INTO {schema}.outbox AS o (job, queue, kind, priority, due, scheduled)
  VALUES (new_job, queue, kind, priority, coalesce(due_ms, now_ms), coalesce(due_ms, now_ms) > now_ms);
  IF current_setting('remora.notify', true) = 'on' THEN
    PERFORM pg_notify({schema}.channel(), '');
  END IF;
  RETURN new_job;
END
$$;

-- The schema's own name, which is the channel's.
CREATE FUNCTION {schema}.channel() RETURNS text LANGUAGE sql STABLE AS $$
  SELECT n.nspname::text FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
  WHERE c.oid = '{schema}.outbox'::regclass
$$;

-- A new id: UUID version 7, so that later ones sort later.
CREATE FUNCTION {schema}.new_id(now_ms bigint) RETURNS uuid LANGUAGE sql VOLATILE AS $$
  SELECT encode(
    set_bit(set_bit(
      overlay(uuid_send(gen_random_uuid()) PLACING substring(int8send(now_ms) FROM 3) FROM 1 FOR 6), 52, 1), 53, 1),
    'hex')::uuid
$$;

-- Refuses in the words of the door: field, value, what is allowed.
CREATE FUNCTION {schema}.check_that(fits boolean, field text, value text, allowed text) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  IF fits IS NOT TRUE THEN
    RAISE EXCEPTION '% is %; allowed is %', field, coalesce(value, 'missing'), allowed
      USING ERRCODE = 'invalid_parameter_value';
  END IF;
END
$$;

-- A name that people type: letters and digits of any script, and _ - . : / + [ ] < >.
CREATE FUNCTION {schema}.check_name(field text, name text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM {schema}.check_that(octet_length(name) <= 128, field, format('%s bytes long', octet_length(name)),
    'at most 128 bytes');
  PERFORM {schema}.check_that(name <> '', field, 'empty', '1 to 128 bytes');
  PERFORM {schema}.check_that(
    name COLLATE "C" ~ '^[][a-zA-Z0-9_.:/+<>-]*$' OR name COLLATE "und-x-icu" ~ '^[][[:alnum:]_.:/+<>-]*$',
    field, format('the name %L', name), 'letters, digits and any of _ - . : / + [ ] < >');
END
$$;
