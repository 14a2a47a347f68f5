//! The first hundred bytes of a database file, read before SQLite touches it.
//!
//! Promises to tell a file that is no database and one that is cut short from a good one. Does not judge what only
//! the write-ahead log can tell.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::error::OpenError;

const LENGTH: usize = 100;
const MAGIC: &[u8; 16] = b"SQLite format 3\0";

/// Whether there is something in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    Nothing,
    Database,
}

/// Examines the file. A missing one is `Nothing`.
pub(super) fn examine(path: &Path) -> Result<Found, OpenError> {
    let unreadable = |source| OpenError::Unreadable { path: path.to_owned(), source };
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Found::Nothing),
        Err(error) => return Err(unreadable(error)),
    };
    let found_bytes = file.metadata().map_err(unreadable)?.len();
    let truncated =
        |expected_bytes| OpenError::Truncated { path: path.to_owned(), expected_bytes, found_bytes };
    let mut head = Vec::with_capacity(LENGTH);
    file.by_ref().take(100).read_to_end(&mut head).map_err(unreadable)?;
    if head.is_empty() {
        return if log_is_empty(path) { Ok(Found::Nothing) } else { Err(truncated(0)) };
    }
    let known = head.len().min(MAGIC.len());
    if head[..known] != MAGIC[..known] {
        return Err(OpenError::NotADatabase { path: path.to_owned(), found: shown(&head) });
    }
    match expected_bytes(&head) {
        None => Err(truncated(100)),
        Some(expected) if expected > found_bytes && log_is_empty(path) => Err(truncated(expected)),
        Some(_) => Ok(Found::Database),
    }
}

/// Whether no write-ahead log with anything in it lies beside the file.
pub(super) fn log_is_empty(path: &Path) -> bool {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    std::fs::metadata(PathBuf::from(log)).map_or(true, |log| log.len() == 0)
}

/// The file's length by its own header; 0 where the header does not say.
fn expected_bytes(head: &[u8]) -> Option<u64> {
    if head.len() < LENGTH {
        return None;
    }
    let number =
        |at: usize| head.get(at..at + 4).and_then(|four| four.try_into().ok()).map_or(0, u32::from_be_bytes);
    let page_bytes = match u16::from_be_bytes([head[16], head[17]]) {
        1 => 65_536,
        bytes => u64::from(bytes),
    };
    let size_is_known = number(24) == number(92);
    Some(if size_is_known { u64::from(number(28)) * page_bytes } else { 0 })
}

fn shown(head: &[u8]) -> String {
    format!("{:?}", String::from_utf8_lossy(&head[..head.len().min(16)]))
}
