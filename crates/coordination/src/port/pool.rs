//! Pool-wide state: epoch, configuration, registrations.

pub use protocol::PoolConfig;
use protocol::{Incarnation, InstallationId, Mark, Window};
use serde::{Deserialize, Serialize};

/// The pool, as coordination has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PoolState {
    /// Epoch and revision at the read; epoch 0 when the store is empty.
    pub mark: Mark,
    /// Whose pool it is; `None` when the store is empty.
    pub installation: Option<InstallationId>,
    /// Whether Reserve is served.
    pub open: bool,
    /// How long ago the epoch was installed, in milliseconds of the room's clock.
    pub epoch_age_ms: u64,
    /// Whether the grace after the epoch's beginning has ended.
    pub grace_over: bool,
    /// The configuration in force.
    pub config: PoolConfig,
    /// Live leases.
    pub leases: usize,
    /// Reservations.
    pub reservations: usize,
    /// Attempts that a loss left without a lease and nobody has accounted for yet.
    pub unaccounted: usize,
    /// Entries in all windows.
    pub queued: usize,
}

/// What a worker tells of itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Registration {
    /// The incarnation.
    pub worker: Incarnation,
    /// Its name, for people.
    pub name: String,
    /// Its process id on its host.
    pub pid: u32,
    /// Its host, for people.
    pub host: String,
    /// Its own places to run.
    pub slots: u32,
    /// The queues it serves; `None` for all.
    pub queues: Option<Vec<String>>,
    /// The kinds it serves.
    pub kinds: Vec<String>,
    /// Whether it takes no new work.
    pub draining: bool,
}

impl Registration {
    /// Whether the worker serves a window.
    #[must_use]
    pub fn serves(&self, window: &Window) -> bool {
        self.kinds.contains(&window.kind)
            && self.queues.as_ref().is_none_or(|queues| queues.contains(&window.queue))
    }
}

/// The answer to a registration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Registered {
    /// Windows it serves that have entries now.
    pub windows: Vec<Window>,
    /// The lease length in force, in milliseconds.
    pub lease_ms: u64,
    /// Whether somebody asked the worker to drain.
    pub drain: bool,
}

/// A hint that something may be worth looking at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Wake {
    /// A window has an entry.
    Queued(Window),
    /// A place in the pool, or a pause, was lifted.
    Freed,
    /// Workers serve other windows than before: more of them may be filled.
    Served,
    /// The durable rows of these jobs changed.
    Nudged(Vec<protocol::JobId>),
    /// A cancel notice stands for this job.
    CancelNotice(protocol::JobId),
    /// The progress shown of this job changed.
    Progress(protocol::JobId),
    /// The epoch changed, or everything was lost.
    Epoch,
}
