//! What can go wrong inside the store, and what of it a caller is told.
//!
//! Promises: `Unreachable` is said only where nothing was applied, `Ambiguous` wherever that is not sure.

use std::path::Path;

use protocol::Fault;
use rusqlite::ErrorCode;

/// A step inside the store that did not work.
#[derive(Debug, thiserror::Error)]
pub(super) enum Trouble {
    /// SQLite said so.
    #[error(transparent)]
    Sql(#[from] rusqlite::Error),
    /// A request or a stored row cannot be taken; its neighbours can.
    #[error("{0}")]
    BadRow(String),
}

impl Trouble {
    /// The reason to set the row aside with, when the trouble is of this row alone.
    pub(super) fn of_the_row(&self) -> Option<String> {
        match self {
            Self::BadRow(reason) => Some(reason.clone()),
            Self::Sql(error) if is_of_the_row(error) => Some(error.to_string()),
            Self::Sql(_) => None,
        }
    }

    fn code(&self) -> Option<ErrorCode> {
        match self {
            Self::Sql(error) => error.sqlite_error_code(),
            Self::BadRow(_) => None,
        }
    }

    /// Whether another connection holds the lock that was needed, for longer than we wait.
    pub(super) fn is_busy(&self) -> bool {
        matches!(self.code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
    }

    /// Whether there is no space left.
    pub(super) fn is_full(&self) -> bool {
        self.code() == Some(ErrorCode::DiskFull)
    }

    /// The fault when nothing was applied: a read, or a transaction that was rolled back.
    pub(super) fn unapplied(self, doing: &str, path: &Path) -> Fault {
        let file = path.display();
        match self.code() {
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                Fault::corrupt(format!("{doing} in {file}"), self)
            }
            Some(ErrorCode::DiskFull) => {
                Fault::unreachable(format!("{doing}: there is no space left for {file}"), self)
            }
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                Fault::unreachable(format!("{doing}: another process is writing to {file}"), self)
            }
            None if self.of_the_row().is_some() => Fault::corrupt(format!("{doing} in {file}"), self),
            _ => Fault::unreachable(format!("{doing} in {file}"), self),
        }
    }

    /// The fault when a commit failed. A full disk cannot have written the frame that makes a commit; an error of
    /// the disk may have come after it.
    pub(super) fn at_commit(self, doing: &str, path: &Path) -> Fault {
        match self.code() {
            Some(ErrorCode::DiskFull | ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                self.unapplied(doing, path)
            }
            _ => Fault::ambiguous(format!("{doing} in {}", path.display()), self),
        }
    }
}

fn is_of_the_row(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::ConstraintViolation | ErrorCode::TypeMismatch | ErrorCode::TooBig)
    ) || matches!(
        error,
        rusqlite::Error::FromSqlConversionFailure(..)
            | rusqlite::Error::InvalidColumnType(..)
            | rusqlite::Error::IntegralValueOutOfRange(..)
            | rusqlite::Error::Utf8Error(..)
            | rusqlite::Error::ToSqlConversionFailure(..)
    )
}
