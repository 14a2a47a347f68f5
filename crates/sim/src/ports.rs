//! The ports of `runtime` on the virtual core: a machine's clock that drifts and steps, and a process's tasks.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use runtime::{BoxFuture, Clock, Spawner};

use crate::core::{Core, Domain};

/// The moment at which every world begins, in milliseconds since 1970.
pub(crate) const EPOCH_MS: u64 = 1_790_000_000_000;
const MILLION: i128 = 1_000_000;

/// A machine's clock.
pub(crate) struct MachineClock {
    core: Arc<Core>,
    /// When the machine had started before the world began.
    booted: Duration,
    /// How much faster than the world it goes, in millionths.
    drift_ppm: i128,
    /// Nanoseconds for which it stood still.
    stood_ns: AtomicU64,
    /// How far its wall clock has been set, in milliseconds.
    wall_ms: AtomicI64,
}

impl MachineClock {
    pub(crate) fn new(core: &Arc<Core>, booted: Duration, drift_ppm: i32) -> Arc<Self> {
        Arc::new(Self {
            core: Arc::clone(core),
            booted,
            drift_ppm: i128::from(drift_ppm),
            stood_ns: AtomicU64::new(0),
            wall_ms: AtomicI64::new(0),
        })
    }

    /// Somebody sets the wall clock.
    pub(crate) fn step_wall(&self, by_ms: i64) {
        self.wall_ms.fetch_add(by_ms, Ordering::Relaxed);
    }

    /// The machine was suspended, and this clock with it.
    pub(crate) fn stood(&self, duration: Duration) {
        self.stood_ns.fetch_add(nanos(duration), Ordering::Relaxed);
    }

    fn local(&self, world: Duration) -> Duration {
        let world = i128::from(nanos(world));
        let stood = i128::from(self.stood_ns.load(Ordering::Relaxed));
        let local = world + world * self.drift_ppm / MILLION - stood;
        self.booted + Duration::from_nanos(u64::try_from(local).unwrap_or(0))
    }
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[async_trait]
impl Clock for MachineClock {
    fn boottime(&self) -> Duration {
        self.local(self.core.now())
    }

    fn unix_ms(&self) -> u64 {
        let since = u64::try_from(self.core.now().as_millis()).unwrap_or(u64::MAX);
        (EPOCH_MS + since).saturating_add_signed(self.wall_ms.load(Ordering::Relaxed))
    }

    async fn sleep(&self, duration: Duration) {
        let world = i128::from(nanos(duration)) * MILLION / (MILLION + self.drift_ppm) + 1;
        self.core.sleep(Duration::from_nanos(u64::try_from(world).unwrap_or(u64::MAX))).await;
    }
}

/// A process's tasks.
pub(crate) struct DomainSpawner {
    pub(crate) core: Arc<Core>,
    pub(crate) domain: Domain,
}

impl Spawner for DomainSpawner {
    fn spawn(&self, task: BoxFuture<()>) {
        self.core.spawn(self.domain, task);
    }

    fn spawn_blocking(&self, work: Box<dyn FnOnce() + Send>) {
        work();
    }
}
