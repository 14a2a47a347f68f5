//! How the protocol's values lie in the columns of a row. A value that does not read back is a bad row.

use protocol::{AttemptId, Guard, JobId, Phase, Timestamp, Token, UserProgress, Verdict};
use tokio_postgres::Row;

use super::entry::Seen;
use super::params::Id;
use super::trouble::Trouble;
use crate::{Checkpoint, Document, ProgramExit, ResultRecord, form};

pub(super) use pg::get;

/// A truth that is unknown counts as false: the row it would be about is not there.
pub(super) fn holds(row: &Row, column: &str) -> Result<bool, Trouble> {
    Ok(get::<Option<bool>>(row, column)?.unwrap_or(false))
}

/// The first of these guards that the row says is false.
pub(super) fn first_false(row: &Row, guards: &[Guard]) -> Result<Option<Guard>, Trouble> {
    for guard in guards {
        if !holds(row, guard.name())? {
            return Ok(Some(*guard));
        }
    }
    Ok(None)
}

pub(super) fn count(row: &Row, column: &str) -> Result<u64, Trouble> {
    let value: i64 = get(row, column)?;
    u64::try_from(value).map_err(|_| Trouble::BadRow(format!("{column} is {value}, below zero")))
}

pub(super) fn maybe_count(row: &Row, column: &str) -> Result<Option<u64>, Trouble> {
    match get::<Option<i64>>(row, column)? {
        Some(_) => count(row, column).map(Some),
        None => Ok(None),
    }
}

pub(super) fn small(row: &Row, column: &str) -> Result<u32, Trouble> {
    let value: i32 = get(row, column)?;
    u32::try_from(value).map_err(|_| Trouble::BadRow(format!("{column} is {value}, below zero")))
}

pub(super) fn token(row: &Row, column: &str) -> Result<Token, Trouble> {
    small(row, column).map(Token)
}

pub(super) fn time(row: &Row, column: &str) -> Result<Timestamp, Trouble> {
    get(row, column).map(Timestamp)
}

pub(super) fn maybe_time(row: &Row, column: &str) -> Result<Option<Timestamp>, Trouble> {
    Ok(get::<Option<i64>>(row, column)?.map(Timestamp))
}

pub(super) fn id(row: &Row, column: &str) -> Result<[u8; 16], Trouble> {
    get::<Id>(row, column).map(|id| id.0)
}

pub(super) fn maybe_id(row: &Row, column: &str) -> Result<Option<[u8; 16]>, Trouble> {
    Ok(get::<Option<Id>>(row, column)?.map(|id| id.0))
}

pub(super) fn job(row: &Row) -> Result<JobId, Trouble> {
    id(row, "job").map(JobId::from_bytes)
}

pub(super) fn phase(row: &Row, column: &str) -> Result<Phase, Trouble> {
    let name: &str = get(row, column)?;
    name.parse().map_err(|unknown: protocol::phase::UnknownPhase| Trouble::BadRow(unknown.to_string()))
}

/// The job's row as a guard saw it: columns `revision`, `phase`, `max_attempts`.
pub(super) fn seen(row: &Row) -> Result<Seen, Trouble> {
    Ok(Seen {
        revision: count(row, "revision")?,
        phase: phase(row, "phase")?,
        max_attempts: small(row, "max_attempts")?,
    })
}

pub(super) fn verdict(name: &str) -> Result<Verdict, Trouble> {
    form::verdict(name).map_err(Trouble::BadRow)
}

pub(super) fn exit(row: &Row) -> Result<Option<ProgramExit>, Trouble> {
    let code: Option<i32> = get(row, "exit_code")?;
    let signal: Option<i32> = get(row, "exit_signal")?;
    Ok(code.map(ProgramExit::Code).or(signal.map(ProgramExit::Signal)))
}

/// The document in a column; `None` when it was dropped at the job's end.
pub(super) fn document(row: &Row, column: &str) -> Result<Option<Document>, Trouble> {
    get::<Option<&[u8]>>(row, column)?.map(form::document).transpose().map_err(Trouble::BadRow)
}

/// A row of `checkpoint`. Documents that were dropped at the job's end read as empty.
pub(super) fn checkpoint(row: &Row) -> Result<Checkpoint, Trouble> {
    Ok(Checkpoint {
        revision: count(row, "revision")?,
        attempt: AttemptId::from_bytes(id(row, "attempt")?),
        token: token(row, "token")?,
        progress: count(row, "progress")?,
        user: form::user(get(row, "user_progress")?).map_err(Trouble::BadRow)?,
        state: document(row, "state")?.unwrap_or_else(Document::empty),
        manifest: document(row, "manifest")?.unwrap_or_else(Document::empty),
        at: time(row, "at")?,
    })
}

/// The job's own progress in a list; one that cannot be decoded is left out.
pub(super) fn user_shown(row: &Row) -> Result<Option<UserProgress>, Trouble> {
    Ok(get::<Option<&str>>(row, "user_progress")?.and_then(|text| form::user(text).ok()))
}

/// The columns of `result`.
pub(super) fn record(row: &Row) -> Result<ResultRecord, Trouble> {
    let gone = |what: &str| Trouble::BadRow(format!("the result has no {what}"));
    Ok(ResultRecord {
        manifest: document(row, "manifest")?.ok_or_else(|| gone("manifest"))?,
        digest: get::<&[u8]>(row, "digest")?.try_into().map_err(|_| gone("digest"))?,
        files: count(row, "files")?,
        bytes: count(row, "bytes")?,
    })
}
