//! Damages a row, for the conformance suite: also those who must not know SQL can bring SQLite as its fixture.

use std::path::Path;

use protocol::JobId;
use rusqlite::{Connection, named_params};

use super::section::sql;

/// Leaves half of what a job asks for, so that the row cannot be decoded.
///
/// # Panics
/// When there is no such job in the file, or no such file.
pub fn damage(path: &Path, job: JobId) {
    let connection = Connection::open(path).expect("the fixture's file opens");
    let damaged = connection.execute(sql!("damage"), named_params! {":job": job.to_bytes()});
    assert_eq!(damaged.expect("the statement runs"), 1, "{job} is in {}", path.display());
}
