//! How the protocol's values lie in columns.
//!
//! Promises that what is read is what was written, digit for digit; a value that does not read back is a bad row.

use protocol::{FailureCause, JobSpec, Phase, RetryPolicy, Timestamp, UserProgress, Verdict};
use rusqlite::Row;

use super::transaction::Seen;
use super::trouble::Trouble;
use crate::{Checkpoint, Document, ProgramExit};

/// A count as SQLite keeps it.
pub(super) fn integer(name: &str, value: u64) -> Result<i64, Trouble> {
    i64::try_from(value)
        .map_err(|_| Trouble::BadRow(format!("{name} is {value}; allowed is at most {}", i64::MAX)))
}

/// A count as SQLite keeps it, held at the highest it can keep.
pub(super) fn at_most(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
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

pub(super) fn verdict_name(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Succeeded => "succeeded",
        Verdict::Cancelled => "cancelled",
        Verdict::Failed(cause) => match cause {
            FailureCause::Failed => "failed",
            FailureCause::TimedOut => "timed_out",
            FailureCause::Drained => "drained",
            FailureCause::BadCheckpoint => "bad_checkpoint",
            FailureCause::Permanent => "permanent",
            FailureCause::Lost => "lost",
        },
    }
}

pub(super) fn verdict(name: &str) -> Result<Verdict, Trouble> {
    Ok(match name {
        "succeeded" => Verdict::Succeeded,
        "cancelled" => Verdict::Cancelled,
        "failed" => Verdict::Failed(FailureCause::Failed),
        "timed_out" => Verdict::Failed(FailureCause::TimedOut),
        "drained" => Verdict::Failed(FailureCause::Drained),
        "bad_checkpoint" => Verdict::Failed(FailureCause::BadCheckpoint),
        "permanent" => Verdict::Failed(FailureCause::Permanent),
        "lost" => Verdict::Failed(FailureCause::Lost),
        other => return Err(Trouble::BadRow(format!("verdict is {other:?}"))),
    })
}

/// The columns of a program's end: code and signal.
pub(super) fn exit_columns(exit: Option<ProgramExit>) -> (Option<i32>, Option<i32>) {
    match exit {
        None => (None, None),
        Some(ProgramExit::Code(code)) => (Some(code), None),
        Some(ProgramExit::Signal(signal)) => (None, Some(signal)),
    }
}

pub(super) fn exit(row: &Row<'_>) -> Result<Option<ProgramExit>, Trouble> {
    let code: Option<i32> = row.get("exit_code")?;
    let signal: Option<i32> = row.get("exit_signal")?;
    Ok(code.map(ProgramExit::Code).or(signal.map(ProgramExit::Signal)))
}

pub(super) fn spec_text(spec: &JobSpec) -> Result<String, Trouble> {
    serde_json::to_string(spec)
        .map_err(|error| Trouble::BadRow(format!("the job cannot be written as JSON: {error}")))
}

/// The submission, or the reason why it does not read back.
pub(super) fn spec(text: Option<&str>) -> Result<JobSpec, String> {
    let text = text.ok_or("what the job asks for is not in the store")?;
    serde_json::from_str(text).map_err(|error| format!("what the job asks for cannot be decoded: {error}"))
}

pub(super) fn user_text(user: &UserProgress) -> Result<String, Trouble> {
    serde_json::to_string(user)
        .map_err(|error| Trouble::BadRow(format!("progress cannot be written: {error}")))
}

fn user(text: &str) -> Result<UserProgress, Trouble> {
    serde_json::from_str(text)
        .map_err(|error| Trouble::BadRow(format!("progress cannot be decoded: {error}")))
}

/// A document in one column: 0 and the bytes, or 1, the length, the digest and the key.
pub(super) fn document_bytes(document: &Document) -> Vec<u8> {
    match document {
        Document::Inline(bytes) => [&[0], bytes.as_slice()].concat(),
        Document::Stored { key, length, digest } => {
            [&[1], length.to_be_bytes().as_slice(), digest.as_slice(), key.as_bytes()].concat()
        }
    }
}

pub(super) fn document(bytes: &[u8]) -> Result<Document, Trouble> {
    let bad = || Trouble::BadRow("a document cannot be decoded".to_owned());
    match bytes.split_first().ok_or_else(bad)? {
        (0, rest) => Ok(Document::Inline(rest.to_vec())),
        (1, rest) => {
            let (length, rest) = rest.split_first_chunk::<8>().ok_or_else(bad)?;
            let (digest, key) = rest.split_first_chunk::<32>().ok_or_else(bad)?;
            Ok(Document::Stored {
                key: String::from_utf8(key.to_vec()).map_err(|_| bad())?,
                length: u64::from_be_bytes(*length),
                digest: *digest,
            })
        }
        _ => Err(bad()),
    }
}

/// The document in a column; `None` when it was dropped at the job's end.
pub(super) fn document_column(row: &Row<'_>, column: &str) -> Result<Option<Document>, Trouble> {
    match row.get_ref(column)?.as_blob_or_null().map_err(rusqlite::Error::from)? {
        Some(bytes) => document(bytes).map(Some),
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
        user: user(row.get_ref("user")?.as_str().map_err(rusqlite::Error::from)?)?,
        state: document_column(row, "state")?.unwrap_or_else(Document::empty),
        manifest: document_column(row, "manifest")?.unwrap_or_else(Document::empty),
        at: time(row, "at")?,
    })
}

/// The job's own progress in a list; one that cannot be decoded is left out.
pub(super) fn user_shown(row: &Row<'_>) -> Result<Option<UserProgress>, Trouble> {
    Ok(row.get::<_, Option<String>>("user_progress")?.and_then(|text| user(&text).ok()))
}

/// A text that every store can hold: NUL is shown as a sign, and what is over the limit is cut between characters.
pub(super) fn storable(text: &str, limit: usize) -> String {
    text[..text.floor_char_boundary(limit)].replace('\0', "\u{2400}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_read_back() {
        let stored = Document::Stored { key: "p/00ü".into(), length: u64::MAX, digest: [7; 32] };
        for written in [Document::empty(), Document::Inline(vec![1, 0, 255]), stored] {
            assert_eq!(document(&document_bytes(&written)).unwrap(), written);
        }
        for bad in [&[][..], &[2], &[1, 0, 0]] {
            assert!(document(bad).is_err());
        }
    }

    #[test]
    fn a_text_is_cut_between_characters_and_holds_no_nul() {
        assert_eq!(storable("aü", 2), "a");
        assert_eq!(storable("a\0b", 9), "a\u{2400}b");
    }
}
