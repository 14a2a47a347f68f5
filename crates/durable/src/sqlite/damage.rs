//! Damages rows, for conformance suites: also those who must not know SQL can bring SQLite as their fixture.

use std::path::Path;
use std::time::Duration;

use protocol::JobId;
use rusqlite::{Connection, named_params};

use super::section::sql;

/// Leaves half of what a job asks for, so that the row cannot be decoded.
///
/// # Panics
/// When there is no such job in the file, or no such file.
pub fn damage(path: &Path, job: JobId) {
    execute(path, sql!("damage", "spec"), job);
}

/// Takes a queued job out of the outbox, so that nobody will ever offer it.
///
/// # Panics
/// When the outbox does not have it, or there is no such file.
pub fn withdraw(path: &Path, job: JobId) {
    execute(path, sql!("damage", "outbox"), job);
}

/// Takes the authority of a job's attempt away and leaves the ledger without its end.
///
/// # Panics
/// When the job does not run, or there is no such file.
pub fn disown(path: &Path, job: JobId) {
    execute(path, sql!("damage", "running"), job);
}

/// The manifest of the job's last checkpoint, and another one in its place, where one is given.
///
/// # Panics
/// When the job has no checkpoint, or there is no such file.
#[must_use]
pub fn exchange_manifest(path: &Path, job: JobId, by: Option<&[u8]>) -> Vec<u8> {
    let connection = Connection::open(path).expect("the fixture's file opens");
    connection.busy_timeout(Duration::from_secs(10)).expect("it may wait");
    let of_job = named_params! {":job": job.to_bytes()};
    let was = connection.query_row(sql!("damage", "manifest"), of_job, |row| row.get(0));
    if let Some(manifest) = by {
        let params = named_params! {":job": job.to_bytes(), ":manifest": manifest};
        let put = connection.execute(sql!("damage", "put_manifest"), params);
        assert_eq!(put.expect("the statement runs"), 1, "{job} is in {}", path.display());
    }
    was.expect("the job has a checkpoint")
}

fn execute(path: &Path, statement: &str, job: JobId) {
    let connection = Connection::open(path).expect("the fixture's file opens");
    let damaged = connection.execute(statement, named_params! {":job": job.to_bytes()});
    assert_eq!(damaged.expect("the statement runs"), 1, "{job} is in {}", path.display());
}
