-- Sets up a session that is this program's own (not one behind pgbouncer, where settings would reach strangers).
-- Read committed, whatever the database's default: the statements lock rows and look again. Plans are made once and
-- stay right however tables grow from empty: every lookup goes through an index. A statement ends by itself a little
-- before its caller gives up.
-- $1 statement_timeout in milliseconds, as text
SELECT
  set_config('default_transaction_isolation', 'read committed', false),
  set_config('search_path', 'pg_catalog', false),
  set_config('statement_timeout', $1, false),
  set_config('lock_timeout', $1, false),
  set_config('idle_in_transaction_session_timeout', '60000', false),
  set_config('plan_cache_mode', 'force_generic_plan', false),
  set_config('enable_seqscan', 'off', false),
  set_config('enable_hashjoin', 'off', false),
  set_config('enable_mergejoin', 'off', false),
  set_config('jit', 'off', false)
