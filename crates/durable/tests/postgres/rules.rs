//! What is PostgreSQL's own: races, schemas, roles, migrations, submissions by the user.

use std::collections::HashSet;
use std::sync::Arc;

use protocol::{FaultKind, Guard, JobId, JobSpec, Phase, Step, Token};
use remora_durable::postgres::migrate::{self, Setup};
use remora_durable::postgres::{OpenError, Options, PostgresRoom, doctor, submit_on};
use remora_durable::{Durable, DurableReads, JobFilter, Listing, ReapLostAttempt, RequestCancel, Submit};
use tokio_postgres::NoTls;

use crate::help::{ORIGIN, a_day, claim, client, failure, fresh, schema, submit, success, taken};
use crate::url::fresh_url;

#[tokio::test(flavor = "multi_thread")]
async fn many_sessions_claim_one_job_and_one_of_them_has_it() {
    let (room, url) = fresh().await;
    let room = Arc::new(room);
    for round in 1..=20_u128 {
        room.submit(&ORIGIN, &[submit(round)]).await.unwrap();
        let tasks: Vec<_> = (0..16_u128)
            .map(|worker| {
                let room = Arc::clone(&room);
                tokio::spawn(async move {
                    let claim = claim(round, round * 100 + worker);
                    room.authorize_attempt(&ORIGIN, &[claim]).await.unwrap().remove(0).step
                })
            })
            .collect();
        let mut won = 0;
        for task in tasks {
            match task.await.unwrap() {
                Step::Taken(authorized) => {
                    assert_eq!(authorized.token, Token(1));
                    won += 1;
                }
                Step::Refused(guard) => assert_eq!(guard, Guard::PhaseQueued),
                Step::SetAside(reason) => panic!("{reason}"),
            }
        }
        assert_eq!(won, 1);
    }
    migrate::down(&url).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn one_end_of_an_attempt_is_taken_whoever_races_and_each_hears_why() {
    let (room, url) = fresh().await;
    let room = Arc::new(room);
    for job in 1..=30_u128 {
        room.submit(&ORIGIN, &[submit(job)]).await.unwrap();
        room.authorize_attempt(&ORIGIN, &[claim(job, 1_000 + job)]).await.unwrap();
        let lost = ReapLostAttempt {
            job: JobId(job),
            attempt: protocol::AttemptId(1_000 + job),
            token: Token(1),
            error: String::new(),
            chance: 0,
            judged: Vec::new(),
        };
        let (succeed, fail) = ([success(job, 1_000 + job)], [failure(job, 1_000 + job)]);
        let cancel = [RequestCancel { job: JobId(job) }];
        let reap = [lost];
        let (a, b, c, d) = tokio::join!(
            room.accept_success(&ORIGIN, &succeed),
            room.accept_failure(&ORIGIN, &fail),
            room.reap_lost_attempt(&ORIGIN, &reap),
            room.request_cancel(&ORIGIN, &cancel),
        );
        let ends = [&a.unwrap()[0].step, &b.unwrap()[0].step, &c.unwrap()[0].step].map(taken);
        let cancelled = taken(&d.unwrap()[0].step);
        let ended = ends.iter().filter(|ended| **ended).count();
        let phase = room.phases(&[JobId(job)]).await.unwrap()[0].unwrap().phase;
        match phase {
            Phase::Cancelling => assert!(cancelled && ended == 0),
            Phase::Cancelled => assert!(cancelled && ended == 1 && !ends[0]),
            Phase::Succeeded => assert!(ends[0] && ended == 1 && !cancelled),
            Phase::RetryWait => assert!(ended == 1 && !cancelled),
            other => panic!("{other}"),
        }
        assert_eq!(room.result(JobId(job)).await.unwrap().is_some(), phase == Phase::Succeeded);
    }
    migrate::down(&url).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn batches_that_cross_each_other_all_come_through() {
    let (room, url) = fresh().await;
    let room = Arc::new(room);
    let jobs: Vec<u128> = (1..=200).collect();
    let batch: Vec<_> = jobs.iter().map(|job| submit(*job)).collect();
    let tasks: Vec<_> = (0..8_u128)
        .map(|task| {
            let (room, mut batch, mut jobs) = (Arc::clone(&room), batch.clone(), jobs.clone());
            tokio::spawn(async move {
                if task % 2 == 1 {
                    batch.reverse();
                    jobs.reverse();
                }
                jobs.rotate_left(usize::try_from(task * 17).unwrap());
                assert!(room.submit(&ORIGIN, &batch).await.unwrap().iter().all(|answer| taken(&answer.step)));
                let claims: Vec<_> = jobs.iter().map(|job| claim(*job, job * 1_000 + task)).collect();
                let claimed = room.authorize_attempt(&ORIGIN, &claims).await.unwrap();
                let mine: Vec<_> = claims
                    .iter()
                    .zip(claimed)
                    .filter(|(_, answer)| taken(&answer.step))
                    .map(|(claim, _)| success(claim.job.0, claim.attempt.0))
                    .collect();
                let ended = room.accept_success(&ORIGIN, &mine).await.unwrap();
                assert!(ended.iter().all(|answer| taken(&answer.step)));
                mine.len()
            })
        })
        .collect();
    let mut all = 0;
    for task in tasks {
        all += task.await.unwrap();
    }
    assert_eq!(all, 200);
    let counts = room.counts().await.unwrap();
    assert_eq!(
        counts.iter().map(|count| (count.phase, count.jobs)).collect::<Vec<_>>(),
        [(Phase::Succeeded, 200)]
    );
    migrate::down(&url).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn one_key_that_many_sessions_submit_at_once_gives_one_job() {
    let (room, url) = fresh().await;
    let room = Arc::new(room);
    let tasks: Vec<_> = (1..=16_u128)
        .map(|number| {
            let room = Arc::clone(&room);
            tokio::spawn(async move {
                let mut request = submit(number);
                request.spec.idempotency_key = Some("once".to_owned());
                room.submit(&ORIGIN, &[request]).await.unwrap().remove(0).step.taken().unwrap().job
            })
        })
        .collect();
    let mut jobs = HashSet::new();
    for task in tasks {
        jobs.insert(task.await.unwrap());
    }
    assert_eq!(jobs.len(), 1);
    assert_eq!(room.list(&JobFilter::default()).await.unwrap().jobs.len(), 1);
    migrate::down(&url).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn two_installations_in_one_database_do_not_see_each_other_and_one_goes_alone() {
    let ((one, first), (two, second)) = (fresh().await, fresh().await);
    one.submit(&ORIGIN, &[submit(1)]).await.unwrap();
    assert_eq!(two.phases(&[JobId(1)]).await.unwrap(), [None]);
    let client = client(&second).await;
    let outside = "SELECT count(*) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
                   WHERE n.nspname = 'public'";
    assert_eq!(client.query_one(outside, &[]).await.unwrap().get::<_, i64>(0), 0);
    migrate::down(&first).await.unwrap();
    two.submit(&ORIGIN, &[submit(1)]).await.unwrap();
    assert!(matches!(PostgresRoom::open(&first, Options::default()).await, Err(OpenError::Missing { .. })));
    migrate::down(&second).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_migration_is_safe_twice_at_once_and_killed_in_between() {
    let url = fresh_url();
    assert_eq!(migrate::status(&url).await.unwrap().found, 0);
    let setup = Setup::default();
    let all = futures_util::future::join_all((0..6).map(|_| migrate::up(&url, &setup))).await;
    let applied: usize = all.iter().map(|status| status.as_ref().unwrap().applied.len()).sum();
    assert_eq!(applied, usize::try_from(migrate::KNOWN).unwrap(), "each was applied once");
    assert!(migrate::up(&url, &setup).await.unwrap().applied.is_empty());
    migrate::down(&url).await.unwrap();
    migrate::down(&url).await.unwrap();

    // Killed while it waits inside its transaction: nothing of it is there, and the next one begins anew.
    let other = client(&url).await;
    let key = format!("SELECT pg_advisory_lock(hashtextextended('remora {}', 0))", schema(&url));
    other.batch_execute(&key).await.unwrap();
    let waiting = tokio::spawn({
        let url = url.clone();
        async move { migrate::up(&url, &Setup::default()).await }
    });
    let kill = "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted";
    while other.query(kill, &[]).await.unwrap().is_empty() {
        tokio::task::yield_now().await;
    }
    waiting.await.unwrap().unwrap_err();
    assert_eq!(migrate::status(&url).await.unwrap().found, 0);
    drop(other);
    assert_eq!(migrate::up(&url, &setup).await.unwrap().found, migrate::KNOWN);
    migrate::down(&url).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_schema_of_another_version_pool_or_owner_is_refused_with_a_sentence() {
    let (_, url) = fresh().await;
    let client = client(&url).await;
    let name = schema(&url);
    let text = |error: Result<PostgresRoom, OpenError>| error.unwrap_err().to_string();
    let open = || PostgresRoom::open(&url, Options::default());
    let run = |sql: String| {
        let client = &client;
        async move { client.batch_execute(&sql).await.unwrap() }
    };
    let other = Options { pool: "other".to_owned(), ..Options::default() };
    assert!(
        text(PostgresRoom::open(&url, other).await).contains("belongs to the pool `default`, not to `other`")
    );
    run(format!("INSERT INTO {name}.migration (number, name, checksum) VALUES (99, 'later', '')")).await;
    assert!(text(open().await).contains("has schema version 99; this program knows versions up to"));
    run(format!("DELETE FROM {name}.migration WHERE number > 1")).await;
    assert!(text(open().await).contains("has schema version 1; `remora migrate up` must bring it to"));
    run(format!("UPDATE {name}.migration SET checksum = ''")).await;
    assert!(text(open().await).contains("migration 1 (`first`) is not the one that was applied"));
    migrate::down(&url).await.unwrap();
    assert!(text(open().await).contains("there is no durable store in schema"));
    run(format!("CREATE SCHEMA {name}; CREATE TABLE {name}.theirs (a int)")).await;
    assert!(text(open().await).contains("belongs to something else: it holds 1 tables"));
    assert!(matches!(migrate::up(&url, &Setup::default()).await, Err(OpenError::Foreign { .. })));
    assert!(matches!(migrate::down(&url).await, Err(OpenError::Foreign { .. })));
    run(format!("DROP SCHEMA {name} CASCADE")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_printed_sql_makes_the_same_schema() {
    let url = fresh_url();
    let client = client(&url).await;
    let role = format!("role_{}", schema(&url));
    client.batch_execute(&format!("CREATE ROLE {role}")).await.unwrap();
    let text = migrate::sql(schema(&url), &Setup::default()).replace("remora_worker", &role);
    client.batch_execute(&text).await.unwrap();
    let status = migrate::up(&url, &Setup::default()).await.unwrap();
    assert_eq!((status.found, status.applied.len()), (migrate::KNOWN, 0));
    let room = PostgresRoom::open(&url, Options::default()).await.unwrap();
    assert_eq!(room.pool().await.unwrap().lease_ms, 15_000);
    migrate::down(&url).await.unwrap();
    client.batch_execute(&format!("DROP ROLE {role}")).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restricted_role_with_an_odd_password_does_all_daily_work_and_nothing_else() {
    let (_, url) = fresh().await;
    let owner = client(&url).await;
    let (name, role) = (schema(&url), format!("daily_{}", schema(&url)));
    owner.batch_execute(&format!("CREATE ROLE {role} LOGIN PASSWORD 'p@ss/w#rd%25?:[x]'")).await.unwrap();
    owner.batch_execute(&migrate::grants(name, &role)).await.unwrap();
    let daily = url.replace("postgres@", &format!("{role}:p%40ss%2Fw%23rd%2525%3F%3A%5Bx%5D@"));
    let room = PostgresRoom::open(&daily, Options::default()).await.unwrap();
    a_day(&room).await;
    let findings = doctor(&room).await.unwrap();
    assert!(
        findings.iter().any(|one| one.name == "permissions" && one.level == protocol::Level::Ok),
        "{findings:?}"
    );
    let plain = daily.split('?').next().unwrap();
    let (client, connection) = tokio_postgres::connect(plain, NoTls).await.unwrap();
    tokio::spawn(connection);
    for refused in [
        format!("DROP TABLE {name}.job"),
        format!("ALTER TABLE {name}.job ADD COLUMN x int"),
        format!("CREATE TABLE {name}.mine (a int)"),
        format!("DELETE FROM {name}.migration"),
        format!("DELETE FROM {name}.pool"),
        format!("TRUNCATE {name}.job"),
    ] {
        let error = client.batch_execute(&refused).await.unwrap_err();
        assert_eq!(error.code().unwrap().code(), "42501", "{refused}: {error}");
    }
    migrate::down(&url).await.unwrap();
    owner.batch_execute(&format!("DROP ROLE {role}")).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_submission_in_the_users_transaction_is_there_with_its_commit_and_gone_with_its_rollback() {
    let (room, url) = fresh().await;
    let mut client = client(&url).await;
    let name = schema(&url).to_owned();
    let request = [
        submit(1),
        submit(1),
        Submit { spec: JobSpec { kind: "a b".into(), ..JobSpec::default() }, ..submit(2) },
    ];
    let transaction = client.transaction().await.unwrap();
    let answers = submit_on(&transaction, &name, &request).await.unwrap();
    assert!(
        taken(&answers[0].step) && taken(&answers[1].step) && matches!(answers[2].step, Step::SetAside(_))
    );
    assert_eq!(room.phases(&[JobId(1)]).await.unwrap(), [None]);
    transaction.rollback().await.unwrap();
    assert_eq!(room.phases(&[JobId(1)]).await.unwrap(), [None]);
    let transaction = client.transaction().await.unwrap();
    submit_on(&transaction, &name, &request[..1]).await.unwrap();
    transaction.commit().await.unwrap();
    assert_eq!(room.phases(&[JobId(1)]).await.unwrap()[0].unwrap().phase, Phase::Queued);
    assert_eq!(room.dispatch_read_jobs(&[JobId(1)]).await.unwrap().len(), 1);
    migrate::down(&url).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_sql_function_accepts_what_the_door_accepts_and_refuses_in_its_words() {
    let (room, url) = fresh().await;
    let client = client(&url).await;
    let name = schema(&url);
    let submitted = client
        .query_one(
            &format!(
                "SELECT text({name}.submit('büro/größe', '{{\"n\": 1.00, \"n\": 2}}', queue => '仕事', \
                 idempotency_key => 'k', timeout_ms => 5))"
            ),
            &[],
        )
        .await
        .unwrap();
    let id: String = submitted.get(0);
    let job = JobId(u128::from_str_radix(&id.replace('-', ""), 16).unwrap());
    let spec = JobSpec {
        kind: "büro/größe".to_owned(),
        queue: "仕事".to_owned(),
        args: "{\"n\": 1.00, \"n\": 2}".to_owned(),
        idempotency_key: Some("k".to_owned()),
        timeout_ms: Some(5),
        ..JobSpec::default()
    };
    assert_eq!(room.job(job).await.unwrap().unwrap().spec, spec);
    // The same request from elsewhere finds it.
    let again = Submit { job: JobId(9), spec: spec.clone(), retry_of: None };
    let found = room.submit(&ORIGIN, &[again]).await.unwrap().remove(0).step.taken().unwrap();
    assert_eq!((found.job, found.existed), (job, true));
    let claimed = room.authorize_attempt(&ORIGIN, &[claim(job.0, 5)]).await.unwrap();
    assert!(taken(&claimed[0].step));
    for (call, text) in [
        ("submit('a b')", "kind is the name 'a b'; allowed is letters"),
        ("submit('')", "kind is empty"),
        ("submit('x', queue => repeat('q', 129))", "queue is 129 bytes long; allowed is at most 128 bytes"),
        ("submit('x', priority => 0)", "priority is 0; allowed is 1 (first) to 4"),
        ("submit('x', max_attempts => 32768)", "max_attempts is 32768; allowed is 1 to 32767"),
        ("submit('x', timeout_ms => 0)", "timeout is 0 ms; allowed is at least 1 ms"),
        ("submit('x', retry_base_ms => 300001)", "retry_base is 300001 ms; allowed is at most retry_cap"),
        ("submit('x', idempotency_key => '')", "idempotency_key is 0 bytes long"),
        (
            "submit('x', to_json(repeat('x', 1048576)))",
            "args is 1048578 bytes long; allowed is at most 1048576 bytes",
        ),
        ("submit('x', '\"\\ud800\"')", "half of a surrogate pair"),
        ("submit('other', idempotency_key => 'k')", "same_request"),
    ] {
        let error = client.query(&format!("SELECT {name}.{call}"), &[]).await.unwrap_err();
        let said = error.as_db_error().unwrap().message();
        assert!(said.contains(text), "{call}: {said}");
    }
    migrate::down(&url).await.unwrap();
}

/// What trial G4 sends by SQL.
#[tokio::test(flavor = "multi_thread")]
async fn g4_args_of_any_depth_come_in_by_sql_whole_or_not_at_all_and_hurt_no_neighbour() {
    let (room, url) = fresh().await;
    let (client, name) = (client(&url).await, schema(&url));
    let call = format!("SELECT text({name}.submit('deep', $1::text::json))");
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    for (number, depth) in (1..).zip([127, 128, 129, 1_000]) {
        let id: String = client.query_one(&call, &[&nested(depth)]).await.unwrap().get(0);
        let job = JobId(u128::from_str_radix(&id.replace('-', ""), 16).unwrap());
        assert_eq!(room.job(job).await.unwrap().unwrap().spec.args, nested(depth), "{depth}");
        let claimed = room.authorize_attempt(&ORIGIN, &[claim(job.0, number)]).await.unwrap().remove(0).step;
        assert_eq!(claimed.taken().unwrap().spec.args, nested(depth), "{depth}");
    }
    // The server's own limit, `max_stack_depth`, told in its words.
    let refused = client.query_one(&call, &[&nested(100_000)]).await.unwrap_err();
    assert_eq!(refused.code().unwrap().code(), "54001", "{refused}");
    let keys: Vec<_> = (0..1_000_000).map(|key| format!("\"{key}\":0")).collect();
    let refused = client.query_one(&call, &[&format!("{{{}}}", keys.join(","))]).await.unwrap_err();
    let said = refused.as_db_error().unwrap().message();
    assert!(said.contains("allowed is at most 1048576 bytes"), "{said}");
    assert_eq!(room.list(&JobFilter::default()).await.unwrap().jobs.len(), 4);
    assert!(taken(&room.submit(&ORIGIN, &[submit(1)]).await.unwrap()[0].step));
    migrate::down(&url).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_statement_comes_a_terminal_row_never_changes_and_a_token_never_falls() {
    let (room, url) = fresh().await;
    room.submit(&ORIGIN, &[submit(1), submit(2)]).await.unwrap();
    room.authorize_attempt(&ORIGIN, &[claim(1, 11), claim(2, 12)]).await.unwrap();
    room.accept_success(&ORIGIN, &[success(1, 11)]).await.unwrap();
    let client = client(&url).await;
    for (change, text) in [
        ("losses = 1 WHERE phase = 'succeeded'", "a terminal job never changes"),
        ("token = 0 WHERE phase = 'running'", "a fencing token never falls"),
    ] {
        let error =
            client.batch_execute(&format!("UPDATE {}.job SET {change}", schema(&url))).await.unwrap_err();
        assert_eq!(error.as_db_error().unwrap().message(), text);
    }
    migrate::down(&url).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_row_that_is_locked_by_others_is_waited_for_and_a_call_ends_by_its_time_limit() {
    let (_, url) = fresh().await;
    let room = PostgresRoom::open(&format!("{url}&call_timeout_ms=400"), Options::default()).await.unwrap();
    room.submit(&ORIGIN, &[submit(1), submit(2)]).await.unwrap();
    let mut client = client(&url).await;
    let transaction = client.transaction().await.unwrap();
    transaction.batch_execute(&format!("SELECT FROM {}.job FOR UPDATE", schema(&url))).await.unwrap();
    let fault = room.authorize_attempt(&ORIGIN, &[claim(1, 11)]).await.unwrap_err();
    assert_eq!(fault.kind, FaultKind::Unreachable, "the server ended it: {fault:?}");
    transaction.rollback().await.unwrap();
    assert!(taken(&room.authorize_attempt(&ORIGIN, &[claim(1, 11)]).await.unwrap()[0].step));
    migrate::down(&url).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_that_changes_while_a_statement_waits_for_it_is_judged_as_it_is_then() {
    let (room, url) = fresh().await;
    let room = Arc::new(room);
    room.submit(&ORIGIN, &[submit(1)]).await.unwrap();
    room.authorize_attempt(&ORIGIN, &[claim(1, 11)]).await.unwrap();
    let mut other = client(&url).await;
    let name = schema(&url);
    let transaction = other.transaction().await.unwrap();
    // Another session cancels the job by hand, and takes its time.
    transaction
        .batch_execute(&format!(
            "UPDATE {name}.job SET phase = 'cancelling', cancel_requested = true, revision = revision + 1"
        ))
        .await
        .unwrap();
    let waiting = tokio::spawn({
        let room = Arc::clone(&room);
        async move { room.accept_success(&ORIGIN, &[success(1, 11)]).await.unwrap().remove(0) }
    });
    let blocked = "SELECT count(*) FROM pg_stat_activity WHERE cardinality(pg_blocking_pids(pid)) > 0 \
                   AND query LIKE '%' || $1 || '%'";
    let watcher = client(&url).await;
    while watcher.query_one(blocked, &[&name]).await.unwrap().get::<_, i64>(0) == 0 {
        tokio::task::yield_now().await;
    }
    transaction.commit().await.unwrap();
    let answer = waiting.await.unwrap();
    assert_eq!((answer.mark.order, answer.step.refused()), (3, Some(Guard::PhaseRunning)));
    assert_eq!(room.result(JobId(1)).await.unwrap(), None);
    migrate::down(&url).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_request_sent_twice_at_once_is_answered_alike() {
    let (room, url) = fresh().await;
    let room = Arc::new(room);
    room.submit(&ORIGIN, &[submit(1)]).await.unwrap();
    room.authorize_attempt(&ORIGIN, &[claim(1, 11)]).await.unwrap();
    let (mut other, watcher, name) = (client(&url).await, client(&url).await, schema(&url));
    let transaction = other.transaction().await.unwrap();
    transaction.batch_execute(&format!("SELECT FROM {name}.job FOR UPDATE")).await.unwrap();
    let send = || {
        let room = Arc::clone(&room);
        tokio::spawn(async move { room.accept_success(&ORIGIN, &[success(1, 11)]).await.unwrap().remove(0) })
    };
    let (one, two) = (send(), send());
    let blocked = "SELECT count(*) FROM pg_stat_activity WHERE cardinality(pg_blocking_pids(pid)) > 0 \
                   AND query LIKE '%' || $1 || '%'";
    while watcher.query_one(blocked, &[&name]).await.unwrap().get::<_, i64>(0) < 2 {
        tokio::task::yield_now().await;
    }
    transaction.rollback().await.unwrap();
    let (one, two) = (one.await.unwrap(), two.await.unwrap());
    assert!(taken(&one.step), "{one:?}");
    assert_eq!(one, two);
    migrate::down(&url).await.unwrap();
}
