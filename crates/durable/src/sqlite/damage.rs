//! Damages rows, for conformance suites: also those who must not know SQL can bring SQLite as their fixture.

use std::path::Path;

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

fn execute(path: &Path, statement: &str, job: JobId) {
    let connection = Connection::open(path).expect("the fixture's file opens");
    let damaged = connection.execute(statement, named_params! {":job": job.to_bytes()});
    assert_eq!(damaged.expect("the statement runs"), 1, "{job} is in {}", path.display());
}
