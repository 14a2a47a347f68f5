//! The coordination room in a schema of a PostgreSQL database, version 14 or later, for teams that want no second store.
//!
//! Promises: each action is one function of the server, one transaction, and begins by locking the pool's row, so the
//! decisions of a pool are serial and each sees all that was decided before; each step is ordered by the pool's revision,
//! raised by the same transaction; answered requests need not be on the disk. Every call has a time limit shorter than a
//! third of the lease. The tables are UNLOGGED: what empties them (a crash of the server, a failover, a restored backup) is
//! seen by the next call, and everything is stale until an epoch is installed anew. Nothing is written outside the schema,
//! and neither a superuser nor an extension is needed.
//! Does not keep anything safe: all of it may be lost at any moment. Does not repair: agents do. Does not share a schema
//! with the durable room, and knows nothing of it. A lease past its length counts as live until `ExpireLease` ends it, as in
//! the spec.
//!
//! Why functions: a single statement sees the tables as they were when it began, before it waited for the lock. In a
//! function every statement sees what was committed until then, and it is still one trip and one transaction.
//!
//! The spec speaks of it as `coordinationVars`; protocol §1 says which actions are here, §2 gives the rules.

mod actions;
mod address;
mod batch;
mod desk;
mod doctor;
mod error;
mod open;
mod pool;
mod reads;
mod reply;
mod room;
mod statements;
#[cfg(test)]
mod tests;
mod wakes;

use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use pg::session::Sessions;
use pg::{params, trouble};
use protocol::{EventSink, Fault, NoEvents};
use tokio::sync::watch;

use crate::remote::events;
use crate::remote::wakes::{Hub, sender};

pub use address::{Address, AddressError};
use desk::Desk;
pub use doctor::doctor;
pub use error::OpenError;

/// A clock of the room's: never goes back, counts from anywhere.
pub type Clock = Arc<dyn Fn() -> Duration + Send + Sync>;

/// What a [`PostgresRoom`] is opened with beside its URL.
#[derive(Clone)]
pub struct Options {
    /// Ages leases and reservations. `None`, as usual: the server's own clock; another one is for tests.
    pub clock: Option<Clock>,
    /// Where events go; by default nowhere.
    pub events: Arc<dyn EventSink>,
    /// Wake-ups kept for a receiver that is behind; 4,096 by default. Too few: receivers fall back to looking now and
    /// then. Too many: memory.
    pub wakes_kept: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { clock: None, events: NoEvents::shared(), wakes_kept: 4_096 }
    }
}

/// The coordination room on PostgreSQL. Any number of processes may open the same schema.
pub struct PostgresRoom {
    desk: Desk,
    address: Address,
    /// Whether it hears the wake-ups of other processes.
    stands: watch::Receiver<Option<bool>>,
}

impl fmt::Debug for PostgresRoom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresRoom").field("address", &self.address).finish_non_exhaustive()
    }
}

impl PostgresRoom {
    /// Opens the room that a URL names ([`Address`] says how). Makes what is missing in its schema, where the role may.
    ///
    /// # Errors
    /// Says what is wrong with the URL, the server or the schema, by name. Never shows the password.
    pub async fn open(url: &str, options: Options) -> Result<Self, OpenError> {
        let mut address = Address::parse(url)?;
        let tls = pg::tls::connector(&address.server)?;
        open::make_ready(&mut address, &tls).await?;
        let hub = Hub::new(options.wakes_kept, sender());
        let sessions = Arc::new(Sessions::new(&address.server, tls.clone(), address.server.connections));
        let mut stands = wakes::connect(&hub, Arc::clone(&sessions), &address, tls);
        // Whoever listens from now on hears what others tell from now on.
        drop(tokio::time::timeout(address.server.call_timeout, stands.wait_for(Option::is_some)).await);
        let desk = Desk {
            sessions,
            statements: statements::Statements::new(&address.server.schema),
            pool: address.pool.clone(),
            clock: options.clock,
            events: options.events,
            hub,
            highest: Mutex::default(),
        };
        Ok(Self { desk, address, stands })
    }

    /// What its URL said, and what was found out.
    #[must_use]
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// Which pool it is, for people.
    #[must_use]
    pub fn place(&self) -> String {
        self.address.to_string()
    }

    /// `LoseCoordinationState`: what this pool holds is deleted, and nothing else of the server.
    ///
    /// # Errors
    /// When the server gives no answer.
    #[doc(alias = "LoseCoordinationState")]
    pub async fn lose(&self) -> Result<(), Fault> {
        let was = self.desk.lose().await?;
        if was.epoch > 0 && self.desk.events.is_on() {
            self.desk.events.record(events::loss(was));
        }
        Ok(())
    }
}

/// Whole milliseconds.
fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
