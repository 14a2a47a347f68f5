//! What every case works with: a room and short ways to ask it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use protocol::{ActorId, InstallationId, Origin, Priority, Window};

use super::Fixture;
use crate::{At, CoordinationRoom, PoolConfig, PoolState, Registration};

/// The lease length of every case.
pub(super) const LEASE: Duration = Duration::from_millis(3_000);

/// The installation of every case.
pub(super) const HERE: InstallationId = InstallationId(1);

/// A room under test.
pub struct Pool {
    fixture: Box<dyn Fixture>,
    room: Arc<dyn CoordinationRoom>,
    sequence: AtomicU64,
    /// The epoch that requests name.
    epoch: AtomicU64,
}

impl Pool {
    /// A fresh room.
    pub fn new(fixture: impl Fixture + 'static) -> Self {
        let room = fixture.room();
        Self { fixture: Box::new(fixture), room, sequence: AtomicU64::new(0), epoch: AtomicU64::new(1) }
    }

    /// The room itself.
    #[must_use]
    pub fn room(&self) -> &dyn CoordinationRoom {
        self.room.as_ref()
    }

    /// Installs epoch 1 with so many places, registers a worker that serves everything of kind `k`, opens.
    pub async fn open(&self, limit: u32) {
        self.install(1, limit).await;
        self.open_epoch().await;
    }

    /// Installs an epoch that is opening, with its configuration and a worker.
    pub async fn install(&self, epoch: u64, limit: u32) {
        self.room.install_epoch(epoch, HERE).await.expect("an answer");
        self.believe(epoch);
        self.configure(epoch, limit, &[]).await;
        self.register(&serving(100)).await;
    }

    /// Opens the epoch that requests name.
    pub async fn open_epoch(&self) {
        let opened = self.room.open_epoch(&self.at()).await.expect("an answer");
        assert!(opened.step.taken().is_some(), "the pool opens");
    }

    /// Copies a configuration into the pool.
    pub async fn configure(&self, revision: u64, global_limit: u32, paused: &[&str]) {
        let paused = paused.iter().map(|queue| (*queue).to_owned()).collect();
        let config = PoolConfig { revision, global_limit, lease_ms: millis(LEASE), paused };
        self.room.configure(&self.at(), &config).await.expect("an answer");
    }

    /// Registers a worker.
    pub async fn register(&self, registration: &Registration) {
        self.room.register(&self.at(), registration).await.expect("an answer");
    }

    /// From now on requests name this epoch.
    pub fn believe(&self, epoch: u64) {
        self.epoch.store(epoch, Ordering::SeqCst);
    }

    /// Who asks.
    #[must_use]
    pub fn at(&self) -> At {
        let sequence = self.sequence.fetch_add(1, Ordering::SeqCst) + 1;
        let origin = Origin { actor: ActorId(1), sequence, sent_after: sequence - 1 };
        At { origin, epoch: self.epoch.load(Ordering::SeqCst) }
    }

    /// Lets time pass.
    pub async fn advance(&self, by: Duration) {
        self.fixture.advance(by).await;
    }

    /// Loses everything.
    pub async fn lose(&self) {
        self.fixture.lose().await;
    }

    /// The pool, as the room tells.
    pub async fn state(&self) -> PoolState {
        self.room.pool().await.expect("an answer")
    }

    /// Places in use: reservations, live leases and attempts unaccounted for.
    pub async fn in_use(&self) -> usize {
        let state = self.state().await;
        state.reservations + state.leases + state.unaccounted
    }
}

/// A worker that serves all queues of kind `k`.
#[must_use]
pub(super) fn serving(worker: u128) -> Registration {
    Registration {
        worker: protocol::Incarnation(worker),
        name: "w".to_owned(),
        pid: 1,
        host: "h".to_owned(),
        slots: 1,
        queues: None,
        kinds: vec!["k".to_owned()],
        draining: false,
    }
}

/// A window of kind `k`.
#[must_use]
pub(super) fn window(queue: &str, priority: u8) -> Window {
    Window { queue: queue.to_owned(), kind: "k".to_owned(), priority: Priority(priority) }
}

/// The window that cases use when it does not matter which.
#[must_use]
pub(super) fn usual() -> Window {
    window("q", 2)
}

/// Whole milliseconds.
#[must_use]
pub(super) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
