//! The durable room in a schema of a PostgreSQL database, version 14 or later.
//!
//! Promises: every action is one statement over a whole batch, decided row by row with the jobs' rows locked in the order
//! of their ids; an answered write is as durable as the server makes commits; guards come back from SQL by name; a bad
//! row harms only itself; every call ends by its time limit. Nothing is written outside the schema, and neither a
//! superuser nor an extension is needed. Does not wake anybody: a notification at commit would make all commits wait for
//! one another. Does not read from replicas.
//!
//! A statement sees the tables as they were when it began, but locks a job's row as it is when the lock is had. Where the
//! row has changed in between, the statement answers `moved` for it, does nothing to it, and is asked again: that is what
//! makes one statement enough, without a transaction around it.
//!
//! The spec speaks of the state as `durableVars`; each file of `actions` and of `sql` carries its action's name.

mod access;
mod actions;
mod batch;
mod column;
#[cfg(feature = "conformance")]
mod damage;
mod doctor;
mod entry;
mod error;
pub mod migrate;
mod open;
mod options;
mod people;
mod reads;
mod room;
mod statements;
mod submitting;
#[cfg(test)]
mod tests;
mod unanswered;

use std::sync::Arc;

use pg::{address, params, session, tls, trouble};

pub use address::{Address, AddressError, Secured, Statements};
#[cfg(feature = "conformance")]
pub use damage::damage;
pub use doctor::doctor;
pub use error::OpenError;
pub use options::{Options, TimeSource};
pub use submitting::{SubmitError, submit_on};
pub use tls::TlsError;

use batch::Desk;
use session::Sessions;

/// Connections for people's reads.
const FOR_PEOPLE: usize = 2;

/// The room. Any number of processes may open the same schema.
pub struct PostgresRoom {
    desk: Desk,
    people: Sessions,
    address: Address,
}

impl PostgresRoom {
    /// Opens the room that a URL names. Its schema must have been brought up to date before, by [`migrate::up`].
    ///
    /// # Errors
    /// Says what is wrong with the URL, the server or the schema, by name. Never shows the password.
    pub async fn open(url: &str, options: Options) -> Result<Self, OpenError> {
        let mut address: Address = url.parse()?;
        let tls = tls::connector(&address)?;
        open::look(&mut address, &tls, &options).await?;
        let desk = Desk {
            sessions: Sessions::new(&address, tls.clone(), address.connections),
            statements: Arc::new(statements::Statements::new(&address.schema)),
            sink: options.sink,
            time: options.time,
            unanswered: unanswered::Unanswered::default(),
        };
        let people = Sessions::new(&address, tls, FOR_PEOPLE);
        Ok(Self { desk, people, address })
    }

    /// What its URL said, and what was found out.
    #[must_use]
    pub fn address(&self) -> &Address {
        &self.address
    }
}

impl std::fmt::Debug for PostgresRoom {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PostgresRoom").field("address", &self.address).finish_non_exhaustive()
    }
}
