//! What an error of the server or of the connection means.
//!
//! Promises: `Unreachable` is said only where the server refused before doing anything; everything else that is not
//! an answer may have been applied.

use protocol::{Fault, FaultKind};
use redis::{ErrorKind, RedisError, ServerErrorKind};

/// What to do with the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Connection {
    /// It can be used again.
    Good,
    /// It, and all others, belong to a server that must not be asked again.
    Bad,
}

/// What an error means.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Meaning {
    pub(super) kind: FaultKind,
    pub(super) connection: Connection,
}

const fn means(kind: FaultKind, connection: Connection) -> Meaning {
    Meaning { kind, connection }
}

/// What an error of a command that was sent means.
pub(super) fn of_sent(error: &RedisError) -> Meaning {
    use {Connection::*, FaultKind::*};
    let text = error.to_string();
    match error.kind() {
        // Said before the command is looked at.
        ErrorKind::Server(ServerErrorKind::BusyLoading | ServerErrorKind::MasterDown) => {
            means(Unreachable, Bad)
        }
        ErrorKind::Server(ServerErrorKind::Moved | ServerErrorKind::Ask | ServerErrorKind::ClusterDown)
        | ErrorKind::AuthenticationFailed => means(Unreachable, Bad),
        ErrorKind::Server(ServerErrorKind::CrossSlot) => means(Unreachable, Good),
        _ if matches!(error.code(), Some("NOAUTH" | "WRONGPASS" | "MISCONF" | "DENIED")) => {
            means(Unreachable, Bad)
        }
        // A user without a permission gets it at the script's door, or at a command in its middle.
        ErrorKind::Server(ServerErrorKind::NoPerm) => means(Ambiguous, Good),
        // Scripts begin with a write, so a replica did nothing; a server that was made one in between did something.
        ErrorKind::Server(ServerErrorKind::ReadOnly) => means(Ambiguous, Bad),
        _ if error.code() == Some("READONLY") || text.contains("READONLY") => means(Ambiguous, Bad),
        // Dragonfly while it loads, or takes over.
        _ if text.contains("Can not execute during") => means(Unreachable, Bad),
        _ if error.code() == Some("WRONGTYPE") || text.contains("WRONGTYPE") => means(Corrupt, Good),
        // Memory may have ended in the middle of a script: what it did is seen by nobody, and the repeat completes it.
        ErrorKind::Server(_) | ErrorKind::Extension => means(Ambiguous, Good),
        ErrorKind::Parse | ErrorKind::UnexpectedReturnType => means(Ambiguous, Bad),
        _ => means(Ambiguous, Bad),
    }
}

/// The fault, with its sentence.
pub(super) fn fault(kind: FaultKind, doing: &str, error: RedisError) -> Fault {
    Fault::new(kind, doing).caused_by(error)
}

/// No connection, so nothing was sent.
pub(super) fn not_sent(doing: &str, error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Fault {
    Fault::unreachable(doing, error)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meaning(code: &str, detail: &str) -> Meaning {
        let known = match code {
            "LOADING" => ServerErrorKind::BusyLoading,
            "MASTERDOWN" => ServerErrorKind::MasterDown,
            "MOVED" => ServerErrorKind::Moved,
            "READONLY" => ServerErrorKind::ReadOnly,
            "NOPERM" => ServerErrorKind::NoPerm,
            "ERR" => ServerErrorKind::ResponseError,
            other => return of_sent(&redis::make_extension_error(other.to_owned(), Some(detail.to_owned()))),
        };
        of_sent(&RedisError::from((known.into(), "said the server", detail.to_owned())))
    }

    #[test]
    fn each_error_of_a_server_has_its_meaning() {
        use {Connection::*, FaultKind::*};
        assert_eq!(meaning("LOADING", "Dataset in memory"), means(Unreachable, Bad));
        assert_eq!(meaning("MASTERDOWN", "Link with MASTER is down"), means(Unreachable, Bad));
        assert_eq!(meaning("MOVED", "1 127.0.0.1:1"), means(Unreachable, Bad));
        assert_eq!(meaning("NOAUTH", "Authentication required."), means(Unreachable, Bad));
        assert_eq!(
            meaning("READONLY", "You can't write against a read only replica."),
            means(Ambiguous, Bad)
        );
        assert_eq!(meaning("NOPERM", "no permissions"), means(Ambiguous, Good));
        assert_eq!(meaning("ERR", "Can not execute during LOADING"), means(Unreachable, Bad));
        assert_eq!(
            meaning("OOM", "command not allowed when used memory > 'maxmemory'"),
            means(Ambiguous, Good)
        );
        assert_eq!(meaning("ERR", "-READONLY inside a script"), means(Ambiguous, Bad));
        assert_eq!(meaning("WRONGTYPE", "Operation against a key"), means(Corrupt, Good));
        assert_eq!(meaning("ERR", "anything else"), means(Ambiguous, Good));
    }

    #[test]
    fn a_connection_that_breaks_may_have_carried_the_command() {
        let broken = RedisError::from(std::io::Error::from(std::io::ErrorKind::BrokenPipe));
        assert_eq!(of_sent(&broken), means(FaultKind::Ambiguous, Connection::Bad));
    }
}
