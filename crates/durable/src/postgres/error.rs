//! Why a room cannot be opened. Each names the place and what was found there.

use protocol::Violation;

use super::address::AddressError;
use super::tls::TlsError;

/// A schema that cannot be used as the durable store.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The URL is wrong.
    #[error(transparent)]
    Address(#[from] AddressError),
    /// TLS cannot be set up.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// The server cannot be spoken to.
    #[error(transparent)]
    Server(#[from] pg::connect::ConnectError),
    /// The server cannot be used.
    #[error(transparent)]
    Unfit(#[from] pg::Unfit),
    /// There is no schema, or nothing in it yet.
    #[error("there is no durable store in {place}; `remora migrate up` makes it")]
    Missing {
        /// The place.
        place: String,
    },
    /// The schema is not ours.
    #[error(
        "{place} belongs to something else: it holds {objects} tables and indexes, and no ledger of migrations"
    )]
    Foreign {
        /// The place.
        place: String,
        /// How much is in it.
        objects: i64,
    },
    /// A newer release has written the schema.
    #[error("{place} has schema version {found}; this program knows versions up to {known}")]
    Newer {
        /// The place.
        place: String,
        /// The version found.
        found: i32,
        /// The highest known here.
        known: i32,
    },
    /// The schema must be brought up to date first.
    #[error("{place} has schema version {found}; `remora migrate up` must bring it to {known} first")]
    Older {
        /// The place.
        place: String,
        /// The version found.
        found: i32,
        /// The one needed.
        known: i32,
    },
    /// A migration that was applied differs from the one in this program.
    #[error("{place}: migration {number} (`{name}`) is not the one that was applied")]
    Checksum {
        /// The place.
        place: String,
        /// The migration's number.
        number: i32,
        /// Its name.
        name: String,
    },
    /// The schema is another pool's.
    #[error("{place} belongs to the pool `{found}`, not to `{wanted}`")]
    OtherPool {
        /// The place.
        place: String,
        /// The pool's name there.
        found: String,
        /// The name asked for.
        wanted: String,
    },
    /// An option is out of its range.
    #[error("cannot set up {place}")]
    BadOption {
        /// The place.
        place: String,
        /// Which, and what is allowed.
        source: Violation,
    },
    /// Anything else that the server refuses, such as for want of a permission.
    #[error("{place}: the server refuses")]
    Refused {
        /// The place.
        place: String,
        /// What it says.
        source: tokio_postgres::Error,
    },
}
