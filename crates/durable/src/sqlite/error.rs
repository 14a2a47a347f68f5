//! Why a database file cannot be opened. Each names the file and what was found in it.

use std::path::PathBuf;

use protocol::Violation;

/// A file that cannot be used as the durable store.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// There is no file, or nothing in it yet.
    #[error("there is no durable store at {}", path.display())]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// The file cannot be read.
    #[error("cannot read {}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file is no SQLite database.
    #[error("{} is not a database: it begins with {found}", path.display())]
    NotADatabase {
        /// The file.
        path: PathBuf,
        /// Its first bytes, shown.
        found: String,
    },
    /// The file is shorter than it says it is.
    #[error("{} is cut short: {found_bytes} of {expected_bytes} bytes are there", path.display())]
    Truncated {
        /// The file.
        path: PathBuf,
        /// Its length by its own header; 0 where only the write-ahead log tells that something was there.
        expected_bytes: u64,
        /// Its length.
        found_bytes: u64,
    },
    /// The database is damaged inside.
    #[error("{} is damaged", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What SQLite says.
        source: rusqlite::Error,
    },
    /// The database is another program's.
    #[error(
        "{} belongs to another program: its application id is {application_id:#010x}, its schema version {user_version}",
        path.display()
    )]
    Foreign {
        /// The file.
        path: PathBuf,
        /// The `application_id` found.
        application_id: i32,
        /// The `user_version` found.
        user_version: i32,
    },
    /// A newer release has written the schema.
    #[error("{} has schema version {found}; this program knows versions up to {known}", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// The `user_version` found.
        found: i32,
        /// The highest known here.
        known: i32,
    },
    /// Only an owner may bring the schema up to date.
    #[error("{} has schema version {found}; an owner must bring it to {known} first", path.display())]
    Older {
        /// The file.
        path: PathBuf,
        /// The `user_version` found.
        found: i32,
        /// The one needed.
        known: i32,
    },
    /// A migration that was applied differs from the one in this program.
    #[error("{}: migration {number} (`{name}`) is not the one that was applied", path.display())]
    Checksum {
        /// The file.
        path: PathBuf,
        /// The migration's number.
        number: i32,
        /// Its name.
        name: String,
    },
    /// The file is another pool's.
    #[error("{} belongs to the pool `{found}`, not to `{wanted}`", path.display())]
    OtherPool {
        /// The file.
        path: PathBuf,
        /// The pool's name in the file.
        found: String,
        /// The name asked for.
        wanted: String,
    },
    /// The file system cannot hold a write-ahead log (network file systems cannot).
    #[error("{} cannot use a write-ahead log: its journal mode is `{found}`", path.display())]
    NoWal {
        /// The file.
        path: PathBuf,
        /// The journal mode that it has.
        found: String,
    },
    /// An option is out of its range.
    #[error("cannot open {}", path.display())]
    BadOption {
        /// The file.
        path: PathBuf,
        /// Which, and what is allowed.
        source: Violation,
    },
    /// Anything else that SQLite refuses: no permission, no space, a lock held by another process.
    #[error("cannot open {}", path.display())]
    Refused {
        /// The file.
        path: PathBuf,
        /// What SQLite says.
        source: rusqlite::Error,
    },
    /// The writer's thread does not start.
    #[error("cannot start the writer of {}", path.display())]
    NoThread {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
}
