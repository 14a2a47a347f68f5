//! The durable room in one SQLite file.
//!
//! Promises: an answered write is on the disk (WAL, `synchronous=FULL`) and every later read of this room sees it;
//! one writer thread commits in groups; a request that fails takes no other one with it; a bad row harms only
//! itself. Guards come back from SQL by name. Does not keep two processes from owning the file: the owner's lock
//! does. Does not serve network file systems: they cannot hold the log.
//! The spec speaks of the state as `durableVars`; each file of `actions` and of `sql` carries its action's name.

mod access;
mod actions;
mod clock;
mod column;
#[cfg(feature = "conformance")]
mod damage;
mod error;
mod header;
mod migrate;
mod open;
mod options;
mod people;
mod reader;
mod reads;
mod room;
mod section;
#[cfg(test)]
mod tests;
mod transaction;
mod trouble;
mod work;
mod writer;

use std::path::Path;

pub use clock::{TimeSource, system_time};
#[cfg(feature = "conformance")]
pub use damage::{damage, disown, exchange_manifest, withdraw};
pub use error::OpenError;
pub use options::Options;

use clock::Clock;
use reader::Reader;
use writer::{Scribe, Writer};

/// The room of the process that owns the file.
pub struct SqliteRoom {
    writer: Writer,
    reads: SqliteReads,
}

/// The reading half: the fresh reads and the reads for people. With an owner elsewhere, or with none.
#[derive(Debug, Clone)]
pub struct SqliteReads {
    fresh: Reader,
    people: Reader,
}

impl SqliteRoom {
    /// Opens the file as its owner; makes it when it is missing and brings its schema up to date.
    ///
    /// # Errors
    /// Says what is wrong with the file, by name.
    pub fn open(path: impl AsRef<Path>, options: Options) -> Result<Self, OpenError> {
        let path = path.as_ref();
        let clock = Clock::new(options.time.clone());
        let connection = open::writer(path, &options, &clock)?;
        let scribe = Scribe { connection, path: path.to_owned(), clock: clock.clone(), sink: options.sink };
        let writer =
            Writer::start(scribe).map_err(|source| OpenError::NoThread { path: path.to_owned(), source })?;
        Ok(Self { writer, reads: SqliteReads::at(path, open::Way::Owner, clock) })
    }

    /// Opens the file for reading only, whoever owns it or nobody. Needs no lock that a writer needs, changes
    /// nothing, and reads a log that a killed owner has left.
    ///
    /// # Errors
    /// Says what is wrong with the file, by name.
    pub fn open_read_only(path: impl AsRef<Path>) -> Result<SqliteReads, OpenError> {
        let path = path.as_ref();
        let way = open::visit(path)?;
        Ok(SqliteReads::at(path, way, Clock::new(system_time())))
    }

    /// The reading half.
    #[must_use]
    pub fn reads(&self) -> &SqliteReads {
        &self.reads
    }
}

impl SqliteReads {
    fn at(path: &Path, way: open::Way, clock: Clock) -> Self {
        Self {
            fresh: Reader::new(path.to_owned(), way, clock.clone()),
            people: Reader::new(path.to_owned(), way, clock),
        }
    }
}

impl std::fmt::Debug for SqliteRoom {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SqliteRoom").field("reads", &self.reads).finish_non_exhaustive()
    }
}
