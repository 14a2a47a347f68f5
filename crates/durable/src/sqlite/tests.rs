//! What needs the room's inside: a disk that is full, statements that prepare, plans that scan nothing.

use std::path::Path;

use protocol::{ActorId, FaultKind, JobId, JobSpec, Origin, Step};
use rusqlite::Connection;

use super::clock::{Clock, system_time};
use super::people::lists;
use super::section::sql;
use super::writer::{Scribe, Writer};
use super::{Options, SqliteReads, SqliteRoom, open};
use crate::{Durable, DurableReads, Submit};

const ORIGIN: Origin = Origin { actor: ActorId(1), sequence: 1, sent_after: 0 };

fn submit(number: u128, bytes: usize) -> Submit {
    let args = format!("\"{}\"", "x".repeat(bytes));
    Submit { job: JobId(number), spec: JobSpec { args, ..JobSpec::default() }, retry_of: None }
}

/// A room whose file may not grow beyond so many pages, as on a full disk.
fn room_of_pages(path: &Path, pages: i64) -> SqliteRoom {
    let options = Options::default();
    let clock = Clock::new(system_time());
    let connection = open::writer(path, &options, &clock).unwrap();
    connection.pragma_update(None, "max_page_count", pages).unwrap();
    let scribe = Scribe { connection, path: path.to_owned(), clock: clock.clone(), sink: options.sink };
    let writer = Writer::start(scribe).unwrap();
    SqliteRoom { writer, reads: SqliteReads::at(path, open::Way::Owner, clock) }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_is_said_to_be_one_changes_nothing_and_small_requests_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("remora.db");
    let room = room_of_pages(&path, 200);
    for number in 0..5 {
        let fault = room.submit(&ORIGIN, &[submit(1, 10), submit(2, 1_000_000)]).await.unwrap_err();
        assert_eq!(fault.kind, FaultKind::Unreachable, "surely not applied");
        let text = fault.to_string();
        assert!(
            text.contains("submit jobs: there is no space left for ") && text.contains("remora.db"),
            "{text}"
        );
        assert_eq!(room.phases(&[JobId(1), JobId(2)]).await.unwrap(), [None, None]);
        let small = room.submit(&ORIGIN, &[submit(10 + number, 10)]).await.unwrap();
        assert!(matches!(small[0].step, Step::Taken(_)));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_finds_the_disk_full_takes_no_other_one_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let room = room_of_pages(&folder.path().join("remora.db"), 200);
    for round in 0..10_u128 {
        let big = [submit(1, 1_000_000)];
        let small = [[submit(100 + round, 10)], [submit(200 + round, 10)], [submit(300 + round, 10)]];
        let (one, two, full, three) = tokio::join!(
            room.submit(&ORIGIN, &small[0]),
            room.submit(&ORIGIN, &small[1]),
            room.submit(&ORIGIN, &big),
            room.submit(&ORIGIN, &small[2]),
        );
        assert!(full.is_err());
        for answer in [one, two, three] {
            assert!(matches!(answer.unwrap()[0].step, Step::Taken(_)));
        }
    }
}

fn migrated(folder: &Path) -> Connection {
    open::writer(&folder.join("remora.db"), &Options::default(), &Clock::new(system_time())).unwrap()
}

/// What SQLite would do, step by step; parameters stay unbound.
fn plan(connection: &Connection, statement: &str) -> Vec<String> {
    let mut explained = connection.prepare(&format!("EXPLAIN QUERY PLAN {statement}")).unwrap();
    let mut rows = explained.raw_query();
    let mut steps = Vec::new();
    while let Some(row) = rows.next().unwrap() {
        steps.push(row.get("detail").unwrap());
    }
    steps
}

#[test]
fn every_statement_prepares_and_every_file_begins_with_its_contract() {
    let folder = tempfile::tempdir().unwrap();
    let connection = migrated(folder.path());
    let mut prepared = 0;
    for entry in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/src/sqlite/sql")).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("-- "), "{}", path.display());
        // What is composed of parts: see below.
        let parts =
            ["connection.sql", "list.sql", "windows.sql", "waiting_windows.sql", "oldest_waiting.sql"];
        if parts.iter().any(|part| path.ends_with(part)) {
            continue;
        }
        let statements: Vec<_> = match text.split_once("\n--: ") {
            Some((_, named)) => named.split("\n--: ").map(|part| part.split_once('\n').unwrap().1).collect(),
            None => vec![text.as_str()],
        };
        for statement in statements {
            connection.prepare(statement).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            prepared += 1;
        }
    }
    let windows = [sql!("windows" + "waiting_windows"), sql!("windows" + "oldest_waiting")];
    for list in lists().into_iter().chain(windows.map(str::to_owned)) {
        connection.prepare(&list).unwrap_or_else(|error| panic!("{list}: {error}"));
        prepared += 1;
    }
    assert!(prepared > 60, "{prepared}");
}

#[test]
fn no_statement_on_the_hot_path_walks_over_a_table() {
    let folder = tempfile::tempdir().unwrap();
    let connection = migrated(folder.path());
    let hot = [
        sql!("submit", "by_job"),
        sql!("submit", "by_key"),
        sql!("outbox", "put"),
        sql!("outbox", "remove"),
        sql!("authorize_attempt", "guards"),
        sql!("authorize_attempt", "run"),
        sql!("persist_checkpoint", "guards"),
        sql!("persist_checkpoint", "forget"),
        sql!("accept_success", "guards"),
        sql!("accept_failure", "guards"),
        sql!("reap_lost_attempt", "guards"),
        sql!("finalize_cancel", "guards"),
        sql!("invalidate_checkpoint", "guards"),
        sql!("retry", "guards"),
        sql!("end_attempt", "ledger"),
        sql!("end_attempt", "forget_inherited"),
        sql!("end_attempt", "trim_errors"),
        sql!("end_job", "stages"),
        sql!("end_job", "checkpoints"),
        sql!("dispatch_read", "window"),
        sql!("dispatch_read", "job"),
        sql!("due_retries"),
        sql!("next_due"),
        sql!("running"),
        sql!("phases"),
        sql!("checkpoint", "valid"),
        sql!("stages_to_sweep", "stages"),
        sql!("stages_to_sweep", "keep"),
        sql!("job", "job"),
        sql!("job", "attempts"),
    ];
    // Of all jobs and of those that have ended; the other tables hold only what waits or runs.
    let lists = lists();
    let long = [&lists[0], &lists[1], &lists[8], &lists[9]].map(String::as_str);
    for statement in hot.into_iter().chain(long) {
        let steps = plan(&connection, statement);
        let scans = |step: &&String| {
            let few = ["INDEX stage_owed", "CONSTANT ROW", "SCAN json_each"];
            step.starts_with("SCAN ") && !few.iter().any(|few| step.contains(few))
        };
        let walked: Vec<_> = steps.iter().filter(scans).collect();
        assert!(walked.is_empty(), "{walked:?} in {statement}\n{steps:#?}");
        assert!(!steps.iter().any(|step| step.contains("AUTOMATIC")), "{steps:#?} in {statement}");
    }
}

#[test]
fn ends_are_counted_in_the_index_of_their_times() {
    let folder = tempfile::tempdir().unwrap();
    let steps = plan(&migrated(folder.path()), sql!("ends"));
    assert!(
        steps.iter().any(|step| step.contains("SEARCH job USING COVERING INDEX job_finished")),
        "{steps:#?}"
    );
}

#[test]
fn a_window_is_read_in_the_order_of_its_index() {
    let folder = tempfile::tempdir().unwrap();
    let connection = migrated(folder.path());
    for statement in [sql!("dispatch_read", "window"), sql!("due_retries"), sql!("stages_to_sweep", "stages")]
    {
        let steps = plan(&connection, statement);
        assert!(!steps.iter().any(|step| step.contains("TEMP B-TREE")), "{steps:#?} in {statement}");
    }
}
