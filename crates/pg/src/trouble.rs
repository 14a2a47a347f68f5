//! What can go wrong between this process and the server, and what of it a caller is told.
//!
//! Promises: `Unreachable` is said only where nothing was applied, `Ambiguous` wherever that is not sure.

use std::error::Error;

use protocol::Fault;
use tokio_postgres::error::{Severity, SqlState};

type Cause = Box<dyn Error + Send + Sync>;

/// A step that did not work.
#[derive(Debug, thiserror::Error)]
pub enum Trouble {
    /// No connection was to be had in time, or the statement was not taken by the server: nothing was sent that acts.
    #[error("no connection to the server")]
    NoConnection(#[source] Cause),
    /// The server refused the statement; what it had done is rolled back.
    #[error("the server refused the statement")]
    Refused(#[source] tokio_postgres::Error),
    /// The connection ended, or the time was over, while the statement was on its way.
    #[error("the answer did not come")]
    NoAnswer(#[source] Cause),
    /// A request or a stored row cannot be taken; its neighbours can.
    #[error("{0}")]
    BadRow(String),
}

/// Errors that go away by themselves: asking again at once is right.
const PASSING: [SqlState; 3] =
    [SqlState::T_R_SERIALIZATION_FAILURE, SqlState::T_R_DEADLOCK_DETECTED, SqlState::LOCK_NOT_AVAILABLE];

impl Trouble {
    /// What an error means that came after the statement was sent.
    pub fn of_a_statement(error: tokio_postgres::Error) -> Self {
        match error.as_db_error() {
            // FATAL ends the session, perhaps after the commit.
            Some(said) if said.parsed_severity() == Some(Severity::Error) => Self::Refused(error),
            _ => Self::NoAnswer(error.into()),
        }
    }

    fn state(&self) -> Option<&SqlState> {
        match self {
            Self::Refused(error) => error.code(),
            _ => None,
        }
    }

    /// Whether another session was in the way only for the moment.
    pub fn is_passing(&self) -> bool {
        self.state().is_some_and(|state| PASSING.contains(state))
    }

    /// Whether another session was just writing the same key.
    pub fn is_raced(&self) -> bool {
        self.state() == Some(&SqlState::UNIQUE_VIOLATION)
    }

    /// Whether the session itself is of no use any more: gone, or one of a server that takes no writes now.
    pub fn ends_session(&self) -> bool {
        match self {
            Self::NoConnection(_) | Self::NoAnswer(_) => true,
            Self::BadRow(_) => false,
            Self::Refused(_) => self.state().is_some_and(|state| {
                let class = state.code().get(..2);
                [SqlState::READ_ONLY_SQL_TRANSACTION, SqlState::INVALID_SQL_STATEMENT_NAME].contains(state)
                    || class.is_some_and(|class| ["57", "58", "XX", "0A"].contains(&class))
            }),
        }
    }

    /// The reason to set the row aside with, when the trouble is of this row alone.
    pub fn of_the_row(&self) -> Option<String> {
        match self {
            Self::BadRow(reason) => Some(reason.clone()),
            Self::Refused(error) => {
                let said = error.as_db_error()?;
                let class = said.code().code().get(..2)?;
                ["22", "23", "54", "P0"].contains(&class).then(|| said.message().to_owned())
            }
            Self::NoConnection(_) | Self::NoAnswer(_) => None,
        }
    }

    /// The fault of a request that acts.
    pub fn of_an_action(self, doing: String) -> Fault {
        match self {
            Self::NoAnswer(_) => Fault::ambiguous(doing, self),
            other => other.of_a_read(doing),
        }
    }

    /// The fault of a request that changes nothing.
    pub fn of_a_read(self, doing: String) -> Fault {
        let corrupt = [SqlState::DATA_CORRUPTED, SqlState::INDEX_CORRUPTED];
        match &self {
            Self::BadRow(_) => Fault::corrupt(doing, self),
            Self::Refused(_) if self.state().is_some_and(|state| corrupt.contains(state)) => {
                Fault::corrupt(doing, self)
            }
            _ => Fault::unreachable(doing, self),
        }
    }
}
