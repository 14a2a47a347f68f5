//! What only SQLite's file can show: kills, damage, strangers' files, reading without owning, many at once.
#![expect(clippy::unwrap_used, reason = "these are tests")]

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

use protocol::{
    ActorId, AttemptId, FailureCause, Incarnation, JobId, JobSpec, Origin, Phase, Position, ReservationId,
    RetryPolicy, Step, Timestamp, Token, UserProgress, id,
};
use remora_durable::sqlite::{OpenError, Options, SqliteReads, SqliteRoom};
use remora_durable::{
    AcceptFailure, AcceptSuccess, AuthorizeAttempt, DispatchRead, Document, Durable, DurableReads, JobFilter,
    Listing, PersistCheckpoint, ReapLostAttempt, RequestCancel, ResultRecord, ScheduleRetry, Submit,
};
use rusqlite::Connection;
use tempfile::TempDir;

const ORIGIN: Origin = Origin { actor: ActorId(1), sequence: 1, sent_after: 0 };
/// Set in the process that is to be killed.
const VICTIM: &str = "REMORA_TEST_VICTIM";

fn place() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("remora.db");
    (folder, path)
}

fn open(path: &Path) -> SqliteRoom {
    SqliteRoom::open(path, Options::default()).unwrap()
}

fn submit(number: u64) -> Submit {
    Submit { job: JobId(id::v7(number, 1)), spec: JobSpec::default(), retry_of: None }
}

fn claim(number: u64) -> AuthorizeAttempt {
    AuthorizeAttempt {
        job: submit(number).job,
        attempt: AttemptId(id::v7(number, 2)),
        worker: Incarnation(1),
        reservation: ReservationId(1),
        epoch: 1,
        checkpoint_revision: 0,
        judged: Vec::new(),
    }
}

fn success(number: u64, bytes: u64) -> AcceptSuccess {
    AcceptSuccess {
        job: submit(number).job,
        attempt: claim(number).attempt,
        token: Token(1),
        result: ResultRecord { manifest: Document::empty(), digest: [0; 32], files: 0, bytes },
    }
}

async fn counted(reads: &impl Listing) -> u64 {
    reads.counts().await.unwrap().iter().map(|count| count.jobs).sum()
}

/// Not a test by itself: the process that the test below kills.
#[tokio::test(flavor = "multi_thread")]
async fn a_victim_submits_until_it_is_killed() {
    let Ok(path) = std::env::var(VICTIM) else { return };
    let room = Arc::new(open(Path::new(&path)));
    let tasks = (0..8_u64).map(|task| {
        let room = Arc::clone(&room);
        tokio::spawn(async move {
            for number in (0..).map(|round| round * 8 + task) {
                room.submit(&ORIGIN, &[submit(number)]).await.unwrap();
                println!("answered {number}");
            }
        })
    });
    for task in tasks.collect::<Vec<_>>() {
        task.await.unwrap();
    }
}

/// Kills a process in the middle of its writes; answers what it had been answered.
fn kill_in_the_middle(path: &Path) -> Vec<u64> {
    let mut victim = Command::new(std::env::current_exe().unwrap())
        .args(["a_victim_submits_until_it_is_killed", "--exact", "--nocapture"])
        .env(VICTIM, path)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(victim.stdout.take().unwrap()).lines();
    let mut answered = Vec::new();
    for line in lines.map_while(Result::ok) {
        answered.extend(line.strip_prefix("answered ").and_then(|number| number.parse::<u64>().ok()));
        if answered.len() == 300 {
            victim.kill().unwrap();
        }
    }
    victim.wait().unwrap();
    assert!(answered.len() >= 300);
    answered
}

async fn all_there(reads: &(impl DurableReads + Listing), answered: &[u64]) {
    let jobs: Vec<_> = answered.iter().map(|number| submit(*number).job).collect();
    let phases = reads.phases(&jobs).await.unwrap();
    assert!(phases.iter().all(|read| read.is_some_and(|read| read.phase == Phase::Queued)));
    let (mut outbox, mut before) = (0, None);
    loop {
        let filter = JobFilter { phases: vec![Phase::Queued], before, limit: 1_000, ..JobFilter::default() };
        let page = reads.list(&filter).await.unwrap();
        outbox += page.jobs.len();
        before = page.next;
        if before.is_none() {
            break;
        }
    }
    assert_eq!(u64::try_from(outbox).unwrap(), counted(reads).await, "each job is whole");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_answered_write_survives_a_kill_and_is_read_without_an_owner_before_and_after() {
    let (_folder, path) = place();
    let answered = kill_in_the_middle(&path);
    let log = path.with_extension("db-wal");
    assert!(fs::metadata(&log).unwrap().len() > 0, "a killed owner leaves its log");
    let before = fs::read(&path).unwrap();
    all_there(&SqliteRoom::open_read_only(&path).unwrap(), &answered).await;
    assert_eq!(fs::read(&path).unwrap(), before, "looking changes nothing");
    assert!(fs::metadata(&log).unwrap().len() > 0);

    let room = open(&path);
    all_there(&room, &answered).await;
    let again = room.submit(&ORIGIN, &[submit(answered[0])]).await.unwrap();
    assert!(matches!(&again[0].step, Step::Taken(effect) if !effect.existed));
    drop(room);
    all_there(&SqliteRoom::open_read_only(&path).unwrap(), &answered).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_visitor_sees_what_a_living_owner_writes_and_holds_nothing_up() {
    let (_folder, path) = place();
    let room = open(&path);
    let visitor: SqliteReads = SqliteRoom::open_read_only(&path).unwrap();
    for number in 0..20 {
        room.submit(&ORIGIN, &[submit(number)]).await.unwrap();
        assert_eq!(counted(&visitor).await, number + 1);
    }
    drop(room);
    assert_eq!(counted(&visitor).await, 20);
    let room = open(&path);
    room.submit(&ORIGIN, &[submit(20)]).await.unwrap();
    assert_eq!(counted(&visitor).await, 21);
}

#[tokio::test(flavor = "multi_thread")]
async fn many_tasks_write_at_once_and_a_bad_request_takes_no_other_one_with_it() {
    let (_folder, path) = place();
    let room = Arc::new(open(&path));
    let tasks: Vec<_> = (0..64_u64)
        .map(|task| {
            let room = Arc::clone(&room);
            tokio::spawn(async move {
                for round in 0..8 {
                    let number = round * 64 + task;
                    let bad = task % 8 == 0;
                    room.submit(&ORIGIN, &[submit(number)]).await.unwrap();
                    let claimed = room.authorize_attempt(&ORIGIN, &[claim(number)]).await.unwrap();
                    assert!(matches!(claimed[0].step, Step::Taken(_)));
                    // More bytes than the column holds: found only in the middle of the writes.
                    let bytes = if bad { u64::MAX } else { 1 };
                    let done = room.accept_success(&ORIGIN, &[success(number, bytes)]).await.unwrap();
                    assert_eq!(matches!(done[0].step, Step::SetAside(_)), bad);
                    assert_eq!(matches!(done[0].step, Step::Taken(_)), !bad);
                    let phase = room.phases(&[submit(number).job]).await.unwrap()[0].unwrap().phase;
                    assert_eq!(phase, if bad { Phase::Running } else { Phase::Succeeded });
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    let counts = room.counts().await.unwrap();
    let counts: Vec<_> = counts.iter().map(|count| (count.phase, count.jobs)).collect();
    assert_eq!(counts, [(Phase::Running, 64), (Phase::Succeeded, 448)]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_order_of_arrival_goes_on_after_a_restart() {
    let (_folder, path) = place();
    let options = || Options { time: Arc::new(|| Timestamp(1_000)), ..Options::default() };
    for number in 0..5 {
        let room = SqliteRoom::open(&path, options()).unwrap();
        room.submit(&ORIGIN, &[submit(9 - number)]).await.unwrap();
        if number == 3 {
            room.authorize_attempt(&ORIGIN, &[claim(6)]).await.unwrap();
        }
    }
    let room = SqliteRoom::open(&path, options()).unwrap();
    let jobs: Vec<_> = (0..10).map(|number| submit(number).job).collect();
    let mut found = room.dispatch_read_jobs(&jobs).await.unwrap();
    found.sort_by_key(|found| found.position);
    let order: Vec<_> = found.iter().map(|found| found.job).collect();
    assert_eq!(order, [9, 8, 7, 5].map(|number| submit(number).job));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_small_tables_hold_only_what_waits_or_runs() {
    let (_folder, path) = place();
    let room = open(&path);
    let connection = Connection::open(&path).unwrap();
    let rows = |table: &str| -> u64 {
        let sql = format!("SELECT count(*) FROM {table}");
        connection.query_row(&sql, [], |row| row.get::<_, i64>(0)).unwrap().try_into().unwrap()
    };
    let job = submit(1).job;
    let spec = JobSpec { retry: RetryPolicy { base_ms: 0, cap_ms: 0 }, ..JobSpec::default() };
    room.submit(&ORIGIN, &[Submit { spec, ..submit(1) }]).await.unwrap();
    for token in 1..=9 {
        let checkpoint_revision = room.checkpoint(job).await.unwrap().map_or(0, |stored| stored.revision);
        let attempt = AttemptId(u128::from(token));
        let request = AuthorizeAttempt { attempt, checkpoint_revision, ..claim(1) };
        room.authorize_attempt(&ORIGIN, &[request]).await.unwrap();
        for step in 1..=3 {
            let request = PersistCheckpoint {
                job,
                attempt,
                token: Token(token),
                progress: u64::from(token) * 10 + step,
                user: UserProgress::default(),
                state: Document::empty(),
                manifest: Document::empty(),
            };
            assert!(matches!(
                room.persist_checkpoint(&ORIGIN, &[request]).await.unwrap()[0].step,
                Step::Taken(_)
            ));
        }
        let inherited = u64::from(token > 1);
        assert_eq!((rows("outbox"), rows("running"), rows("checkpoint")), (0, 1, 1 + inherited));
        let request = ReapLostAttempt {
            job,
            attempt,
            token: Token(token),
            error: String::new(),
            chance: 0,
            judged: Vec::new(),
        };
        room.reap_lost_attempt(&ORIGIN, &[request]).await.unwrap();
        assert_eq!((rows("running"), rows("retry_wait"), rows("checkpoint")), (0, 1, 1));
        room.schedule_retry(&ORIGIN, &[ScheduleRetry { job }]).await.unwrap();
        assert_eq!((rows("outbox"), rows("retry_wait")), (1, 0));
    }
    room.request_cancel(&ORIGIN, &[RequestCancel { job }]).await.unwrap();
    assert_eq!((rows("outbox"), rows("running"), rows("retry_wait")), (0, 0, 0));
    assert_eq!(rows("checkpoint WHERE state IS NOT NULL OR manifest IS NOT NULL"), 0);
    assert_eq!((rows("attempt"), rows("stage WHERE owed > 0")), (9, 9));
}

#[test]
fn a_file_that_is_cut_short_is_refused_with_both_lengths() {
    let (_folder, path) = place();
    drop(open(&path));
    let whole = fs::read(&path).unwrap();
    let length = u64::try_from(whole.len()).unwrap();
    for kept in [whole.len() - 1, whole.len() / 2, 4_096, 100] {
        fs::write(&path, &whole[..kept]).unwrap();
        let found = u64::try_from(kept).unwrap();
        for error in [
            SqliteRoom::open(&path, Options::default()).unwrap_err(),
            SqliteRoom::open_read_only(&path).unwrap_err(),
        ] {
            let OpenError::Truncated { expected_bytes, found_bytes, .. } = &error else {
                panic!("{error:?}")
            };
            assert_eq!((*expected_bytes, *found_bytes), (length, found));
            let text = error.to_string();
            assert!(text.contains("remora.db is cut short"), "{text}");
        }
        assert_eq!(fs::read(&path).unwrap().len(), kept, "it is left as it is");
    }
    fs::write(&path, &whole[..40]).unwrap();
    assert!(matches!(
        SqliteRoom::open(&path, Options::default()),
        Err(OpenError::Truncated { found_bytes: 40, .. })
    ));
    fs::write(&path, b"").unwrap();
    fs::write(path.with_extension("db-wal"), b"left over").unwrap();
    assert!(matches!(
        SqliteRoom::open(&path, Options::default()),
        Err(OpenError::Truncated { found_bytes: 0, .. })
    ));
}

#[test]
fn a_file_of_another_kind_is_refused_and_left_as_it_is() {
    let (_folder, path) = place();
    fs::write(&path, b"# notes\nbuy milk").unwrap();
    let error = SqliteRoom::open(&path, Options::default()).unwrap_err();
    assert!(matches!(error, OpenError::NotADatabase { .. }), "{error:?}");
    assert!(
        error.to_string().contains(r##"remora.db is not a database: it begins with "# notes"##),
        "{error}"
    );
    assert!(matches!(SqliteRoom::open_read_only(&path), Err(OpenError::NotADatabase { .. })));
    assert_eq!(fs::read(&path).unwrap(), b"# notes\nbuy milk");
    assert!(!path.with_extension("db-wal").exists());
}

#[test]
fn another_programs_database_is_refused_and_left_as_it_is() {
    let (_folder, path) = place();
    let other = Connection::open(&path).unwrap();
    other
        .execute_batch("CREATE TABLE t (a); PRAGMA application_id = 252006674; PRAGMA user_version = 3")
        .unwrap();
    drop(other);
    let before = fs::read(&path).unwrap();
    let error = SqliteRoom::open(&path, Options::default()).unwrap_err();
    assert!(error.to_string().ends_with("its application id is 0x0f055112, its schema version 3"), "{error}");
    assert!(matches!(SqliteRoom::open_read_only(&path), Err(OpenError::Foreign { user_version: 3, .. })));
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn a_newer_releases_schema_is_refused_by_its_number() {
    let (_folder, path) = place();
    drop(open(&path));
    Connection::open(&path).unwrap().pragma_update(None, "user_version", 999).unwrap();
    let error = SqliteRoom::open(&path, Options::default()).unwrap_err();
    assert!(
        error.to_string().contains("has schema version 999; this program knows versions up to"),
        "{error}"
    );
    assert!(matches!(SqliteRoom::open_read_only(&path), Err(OpenError::Newer { found: 999, .. })));
}

#[test]
fn a_migration_that_was_changed_after_it_was_applied_is_refused_by_name() {
    let (_folder, path) = place();
    drop(open(&path));
    Connection::open(&path).unwrap().execute("UPDATE migration SET checksum = x'00'", []).unwrap();
    let error = SqliteRoom::open(&path, Options::default()).unwrap_err();
    assert!(error.to_string().contains("migration 1 (`first`) is not the one that was applied"), "{error}");
}

#[test]
fn a_file_belongs_to_one_pool_and_options_are_checked() {
    let (_folder, path) = place();
    drop(open(&path));
    let other = Options { pool: "other".to_owned(), ..Options::default() };
    let error = SqliteRoom::open(&path, other).unwrap_err();
    assert!(error.to_string().contains("belongs to the pool `default`, not to `other`"), "{error}");
    let short = Options { lease_ms: 499, ..Options::default() };
    assert!(matches!(SqliteRoom::open(&path, short), Err(OpenError::BadOption { .. })));
}

#[test]
fn a_store_that_is_not_there_yet_is_said_to_be_missing_and_is_not_made() {
    let (_folder, path) = place();
    let error = SqliteRoom::open_read_only(&path).unwrap_err();
    assert!(matches!(error, OpenError::Missing { .. }), "{error:?}");
    assert!(!path.exists());
    let nowhere = path.join("deeper").join("remora.db");
    assert!(matches!(SqliteRoom::open(&nowhere, Options::default()), Err(OpenError::Refused { .. })));
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_statement_comes_a_terminal_row_never_changes_and_a_token_never_falls() {
    let (_folder, path) = place();
    let room = open(&path);
    room.submit(&ORIGIN, &[submit(1), submit(2)]).await.unwrap();
    room.authorize_attempt(&ORIGIN, &[claim(1), claim(2)]).await.unwrap();
    room.accept_success(&ORIGIN, &[success(1, 1)]).await.unwrap();
    let connection = Connection::open(&path).unwrap();
    let change = |sql: &str| connection.execute(sql, []).unwrap_err().to_string();
    assert_eq!(change("UPDATE job SET losses = 1 WHERE phase = 'succeeded'"), "a terminal job never changes");
    assert_eq!(change("UPDATE job SET token = 0 WHERE phase = 'running'"), "a fencing token never falls");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_locked_file_is_unreachable_and_works_again_when_the_lock_is_gone() {
    let (_folder, path) = place();
    let room = open(&path);
    let connection = Connection::open(&path).unwrap();
    connection.execute_batch("BEGIN IMMEDIATE").unwrap();
    let fault = room.submit(&ORIGIN, &[submit(1)]).await.unwrap_err();
    assert_eq!(fault.kind, protocol::FaultKind::Unreachable);
    assert!(fault.to_string().contains("submit jobs: another process is writing to"), "{fault}");
    connection.execute_batch("ROLLBACK").unwrap();
    assert!(matches!(room.submit(&ORIGIN, &[submit(1)]).await.unwrap()[0].step, Step::Taken(_)));
}

fn failure(number: u64, attempt: u64, token: u32, error: &str, chance: u64) -> AcceptFailure {
    AcceptFailure {
        job: submit(number).job,
        attempt: AttemptId(id::v7(attempt, 2)),
        token: Token(token),
        cause: FailureCause::Failed,
        error: error.to_owned(),
        exit: None,
        chance,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_thousand_jobs_that_fail_in_one_moment_come_back_over_the_whole_delay_and_none_before_it() {
    const JOBS: u64 = 10_000;
    const BATCH: u64 = 1_000;
    let (_folder, path) = place();
    let clock = Arc::new(AtomicI64::new(1_790_000_000_000));
    let read = Arc::clone(&clock);
    let options =
        Options { time: Arc::new(move || Timestamp(read.load(Ordering::Relaxed))), ..Options::default() };
    let room = SqliteRoom::open(&path, options).unwrap();
    let retry = RetryPolicy { base_ms: 10_000, cap_ms: 300_000 };
    let mut chance = 0x9E37_79B9_7F4A_7C15_u64;
    for first in (1..=JOBS).step_by(usize::try_from(BATCH).unwrap()) {
        let numbers = first..first + BATCH;
        let spec = || JobSpec { retry, ..JobSpec::default() };
        let submits: Vec<_> =
            numbers.clone().map(|number| Submit { spec: spec(), ..submit(number) }).collect();
        room.submit(&ORIGIN, &submits).await.unwrap();
        let claims: Vec<_> = numbers.clone().map(claim).collect();
        room.authorize_attempt(&ORIGIN, &claims).await.unwrap();
        let failures: Vec<_> = numbers
            .map(|number| {
                // Any even source of chance does.
                chance =
                    chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                failure(number, number, 1, "the other side is away", chance)
            })
            .collect();
        room.accept_failure(&ORIGIN, &failures).await.unwrap();
    }
    // A second at a time: whoever is due is taken up, as the retry scheduler does.
    let mut starts = Vec::new();
    for _ in 0..10 {
        clock.fetch_add(1_000, Ordering::Relaxed);
        let mut started = 0;
        loop {
            let due = room.due_retries(usize::try_from(BATCH).unwrap()).await.unwrap();
            if due.is_empty() {
                break;
            }
            started += due.len();
            room.schedule_retry(&ORIGIN, &due).await.unwrap();
        }
        starts.push(started);
    }
    assert_eq!(starts.iter().sum::<usize>(), usize::try_from(JOBS).unwrap(), "{starts:?}");
    // A tenth each, give or take six standard deviations.
    assert!(starts.iter().all(|started| (820..=1_180).contains(started)), "{starts:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn five_hundred_attempts_with_200_kb_of_error_each_grow_nothing_and_slow_nothing_beside_them() {
    let (_folder, path) = place();
    let clock = Arc::new(AtomicI64::new(1_790_000_000_000));
    let read = Arc::clone(&clock);
    let options =
        Options { time: Arc::new(move || Timestamp(read.load(Ordering::Relaxed))), ..Options::default() };
    let room = SqliteRoom::open(&path, options).unwrap();
    let spec =
        JobSpec { retry: RetryPolicy { base_ms: 0, cap_ms: 0 }, max_attempts: 500, ..JobSpec::default() };
    room.submit(&ORIGIN, &[Submit { spec, ..submit(1) }]).await.unwrap();
    let due = Timestamp(1_790_000_010_000);
    let small: Vec<_> = (2..=1_001)
        .map(|number| Submit {
            spec: JobSpec { scheduled_at: Some(due), ..JobSpec::default() },
            ..submit(number)
        })
        .collect();
    room.submit(&ORIGIN, &small).await.unwrap();
    let error = "ä".repeat(100_000);
    let mut times = Vec::new();
    for token in 1..=500_u32 {
        let attempt = u64::from(token) + 10_000;
        let began = Instant::now();
        let claims = [AuthorizeAttempt { attempt: AttemptId(id::v7(attempt, 2)), ..claim(1) }];
        let claimed = room.authorize_attempt(&ORIGIN, &claims).await.unwrap();
        assert!(matches!(claimed[0].step, Step::Taken(_)), "{token}: {claimed:?}");
        room.accept_failure(&ORIGIN, &[failure(1, attempt, token, &error, 0)]).await.unwrap();
        let due = room.due_retries(9).await.unwrap();
        room.schedule_retry(&ORIGIN, &due).await.unwrap();
        times.push(began.elapsed());
    }
    let view = room.job(submit(1).job).await.unwrap().unwrap();
    assert_eq!((view.summary.phase, view.attempts.len()), (Phase::Failed, 500));
    let kept: Vec<usize> = view.attempts.iter().filter_map(|one| Some(one.error.as_ref()?.len())).collect();
    assert_eq!(kept.len(), 20);
    assert!(kept.iter().all(|bytes| *bytes <= 8 * 1024), "{kept:?}");
    assert!(fs::metadata(&path).unwrap().len() < 8 * 1024 * 1024, "500 times 200 KB would be 100 MB");
    let middle = |times: &[Duration]| {
        let mut times = times.to_vec();
        times.sort_unstable();
        times[times.len() / 2]
    };
    let (early, late) = (middle(&times[..100]), middle(&times[400..]));
    assert!(late < early * 5 + Duration::from_millis(20), "{early:?}, then {late:?}");
    clock.store(due.0, Ordering::Relaxed);
    let began = Instant::now();
    let windows = room.waiting_windows().await.unwrap();
    let read = DispatchRead { window: windows[0].clone(), from: Position::default(), limit: 2_000 };
    let offered = room.dispatch_read(&read).await.unwrap();
    assert_eq!(offered.len(), 1_000, "what is due is offered, ids alone");
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
}
