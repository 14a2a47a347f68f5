//! How the protocol's values lie in columns.
//!
//! Promises that what is read is what was written, digit for digit; a value that does not read back is a bad row.

use protocol::{Phase, RetryPolicy, Timestamp, UserProgress, Verdict};
use rusqlite::Row;

use super::transaction::Seen;
use super::trouble::Trouble;
use crate::{Checkpoint, Document, ProgramExit, form};

pub(super) use crate::form::{at_most, document_bytes, exit_columns, spec, storable, verdict_name};

/// A count as SQLite keeps it.
pub(super) fn integer(name: &str, value: u64) -> Result<i64, Trouble> {
    form::integer(name, value).map_err(Trouble::BadRow)
}

pub(super) fn count(row: &Row<'_>, column: &str) -> Result<u64, Trouble> {
    let value: i64 = row.get(column)?;
    u64::try_from(value).map_err(|_| Trouble::BadRow(format!("{column} is {value}, below zero")))
}

pub(super) fn time(row: &Row<'_>, column: &str) -> Result<Timestamp, Trouble> {
    Ok(Timestamp(row.get(column)?))
}

pub(super) fn maybe_time(row: &Row<'_>, column: &str) -> Result<Option<Timestamp>, Trouble> {
    Ok(row.get::<_, Option<i64>>(column)?.map(Timestamp))
}

pub(super) fn id(row: &Row<'_>, column: &str) -> Result<[u8; 16], Trouble> {
    Ok(row.get(column)?)
}

pub(super) fn maybe_id(row: &Row<'_>, column: &str) -> Result<Option<[u8; 16]>, Trouble> {
    Ok(row.get(column)?)
}

pub(super) fn phase(row: &Row<'_>, column: &str) -> Result<Phase, Trouble> {
    let name: String = row.get(column)?;
    name.parse().map_err(|unknown: protocol::phase::UnknownPhase| Trouble::BadRow(unknown.to_string()))
}

/// The job's row as a guard sees it: columns `revision`, `phase`, `max_attempts`.
pub(super) fn seen(row: &Row<'_>) -> Result<Seen, Trouble> {
    Ok(Seen {
        revision: count(row, "revision")?,
        phase: phase(row, "phase")?,
        max_attempts: row.get("max_attempts")?,
    })
}

pub(super) fn retry_policy(row: &Row<'_>) -> Result<RetryPolicy, Trouble> {
    Ok(RetryPolicy { base_ms: count(row, "retry_base_ms")?, cap_ms: count(row, "retry_cap_ms")? })
}

pub(super) fn verdict(name: &str) -> Result<Verdict, Trouble> {
    form::verdict(name).map_err(Trouble::BadRow)
}

pub(super) fn exit(row: &Row<'_>) -> Result<Option<ProgramExit>, Trouble> {
    let code: Option<i32> = row.get("exit_code")?;
    let signal: Option<i32> = row.get("exit_signal")?;
    Ok(code.map(ProgramExit::Code).or(signal.map(ProgramExit::Signal)))
}

/// The document in a column; `None` when it was dropped at the job's end.
pub(super) fn document_column(row: &Row<'_>, column: &str) -> Result<Option<Document>, Trouble> {
    match row.get_ref(column)?.as_blob_or_null().map_err(rusqlite::Error::from)? {
        Some(bytes) => form::document(bytes).map(Some).map_err(Trouble::BadRow),
        None => Ok(None),
    }
}

/// A row of `checkpoint`. Documents that were dropped at the job's end read as empty.
pub(super) fn checkpoint(row: &Row<'_>) -> Result<Checkpoint, Trouble> {
    Ok(Checkpoint {
        revision: count(row, "revision")?,
        attempt: protocol::AttemptId::from_bytes(id(row, "attempt")?),
        token: protocol::Token(row.get("token")?),
        progress: count(row, "progress")?,
        user: form::user(row.get_ref("user")?.as_str().map_err(rusqlite::Error::from)?)
            .map_err(Trouble::BadRow)?,
        state: document_column(row, "state")?.unwrap_or_else(Document::empty),
        manifest: document_column(row, "manifest")?.unwrap_or_else(Document::empty),
        at: time(row, "at")?,
    })
}

/// The job's own progress in a list; one that cannot be decoded is left out.
pub(super) fn user_shown(row: &Row<'_>) -> Result<Option<UserProgress>, Trouble> {
    Ok(row.get::<_, Option<String>>("user_progress")?.and_then(|text| form::user(&text).ok()))
}
