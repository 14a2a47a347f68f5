//! Why a room cannot be opened. Each names the place and what was found there.

use pg::connect::ConnectError;
use pg::tls::TlsError;

use super::AddressError;

/// A schema that cannot be used as the coordination store.
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
    Server(#[from] ConnectError),
    /// The server cannot be used.
    #[error(transparent)]
    Unfit(#[from] pg::Unfit),
    /// The schema is not ours.
    #[error(
        "{place} belongs to something else: it holds {objects} tables and indexes that are not coordination's"
    )]
    Foreign {
        /// The place.
        place: String,
        /// How much is in it.
        objects: i64,
    },
    /// A newer release has made what is there.
    #[error(
        "{place} was made by a newer release (version {found}; this program knows {known}); it holds nothing that is not \
         rebuilt: DROP SCHEMA … CASCADE, or name another schema"
    )]
    Newer {
        /// The place.
        place: String,
        /// The version found.
        found: i32,
        /// The one known here.
        known: i32,
    },
    /// What is missing could not be made.
    #[error(
        "cannot make the tables of {place}; let a role that may create tables open it once, or grant CREATE"
    )]
    Make {
        /// The place.
        place: String,
        /// What the server says.
        source: tokio_postgres::Error,
    },
}
