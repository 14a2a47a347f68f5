//! The coordination room on Dragonfly, and on any server that speaks Redis' protocol (Redis from 6.2 on, Valkey).
//!
//! Promises: each action is one atomic script over the keys of one pool, all of them declared and of one hash tag; each
//! is ordered by the pool's revision, raised by the same script; no script grows with history, and none is long.
//! Every command has a time limit shorter than a third of the lease. A full memory stops new work and never running
//! work. Whatever loses state (a restart, a failover, `FLUSHALL`, an old snapshot) is seen by the next command, because
//! the pool remembers which server process it lives in, and everything is stale until an epoch is installed anew.
//! Does not keep anything safe: all of it may be lost at any moment. Does not repair: agents do. Several batches' rows
//! are not one step. A lease past its length counts as live until `ExpireLease` ends it, as in the spec.
//! The spec speaks of it as `coordinationVars`; protocol §1 says which actions are here, §2 gives the rules.

mod actions;
mod batch;
mod doctor;
mod keys;
pub mod link;
mod pool;
mod reads;
mod reply;
mod room;
mod script;
mod shared;
mod wakes;
mod words;

use std::fmt;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use protocol::{EventSink, Fault, Mark, NoEvents};

use tokio::sync::watch;

use keys::Names;
use link::{Address, BadAddress, Connections, Link};
use shared::Shared;
use wakes::Hub;

use crate::remote::events;

pub use doctor::doctor;
pub use reply::Reply;
pub use script::Script;

/// A clock of the room's: never goes back, counts from anywhere.
pub type Clock = Arc<dyn Fn() -> Duration + Send + Sync>;

/// What a [`DragonflyRoom`] is made with.
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

/// The coordination room on a server.
pub struct DragonflyRoom {
    shared: Arc<Shared>,
    /// None where tests bring their own link.
    address: Option<Address>,
    /// Whether the subscription to wake-ups stands.
    stands: Option<watch::Receiver<Option<bool>>>,
}

impl fmt::Debug for DragonflyRoom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DragonflyRoom").field("address", &self.address).finish_non_exhaustive()
    }
}

impl DragonflyRoom {
    /// The room that a URL names ([`Address`] says how). The server need not be there yet: until it is, every request
    /// is `Unreachable`.
    ///
    /// # Errors
    /// Names the part of the URL that is wrong.
    pub async fn open(url: &str, options: Options) -> Result<Self, BadAddress> {
        let address = Address::parse(url)?;
        let connections = Connections::new(address.clone());
        let patience = connections.time_limit();
        let link: Arc<dyn Link> = Arc::new(connections);
        let room = Self::over(Arc::clone(&link), Names::new(&address.installation, &address.pool), options);
        let channel = room.shared.names.channel();
        let mut stands = wakes::connect(&room.shared.hub, link, address.clone(), channel);
        // Whoever listens from now on hears what others tell from now on, if the server is there at all.
        drop(tokio::time::timeout(patience, stands.wait_for(Option::is_some)).await);
        Ok(Self { address: Some(address), stands: Some(stands), ..room })
    }

    /// A room over another link, without wake-ups from other processes.
    #[must_use]
    pub fn with_link(link: Arc<dyn Link>, pool: &str, options: Options) -> Self {
        Self::over(link, Names::new("remora", pool), options)
    }

    fn over(link: Arc<dyn Link>, names: Names, options: Options) -> Self {
        let shared = Shared {
            link,
            names,
            clock: options.clock,
            events: options.events,
            hub: Hub::new(options.wakes_kept, wakes::sender()),
            epoch: AtomicU64::new(0),
            highest: Mutex::default(),
        };
        Self { shared: Arc::new(shared), address: None, stands: None }
    }

    /// Which pool it is, for people.
    #[must_use]
    pub fn place(&self) -> String {
        format!("pool {}", self.shared.names.shown())
    }

    /// `LoseCoordinationState`: this pool's keys are deleted, and nothing else of the server.
    ///
    /// # Errors
    /// When the server gives no answer.
    #[doc(alias = "LoseCoordinationState")]
    pub async fn lose(&self) -> Result<(), Fault> {
        let was: Mark = self.shared.lose().await?;
        if was.epoch > 0 && self.shared.events.is_on() {
            self.shared.events.record(events::loss(was));
        }
        Ok(())
    }
}

/// Whole milliseconds.
fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
