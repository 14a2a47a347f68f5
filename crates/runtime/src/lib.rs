//! Everything that makes a run unrepeatable, behind ports: clock, chance, tasks; and each actor's count of
//! its own requests.
//!
//! Promises: agents and workers that take time, chance and tasks from here can be run again, step by step,
//! under a simulated clock and a seed. Does not decide anything. The real implementations are
//! [`SystemClock`], [`SystemRng`] and [`TokioSpawner`].

mod caller;
mod clock;
mod panic;
mod rng;
mod spawner;

use std::sync::Arc;

pub use caller::{Caller, Sent};
pub use clock::{Clock, SystemClock};
pub use panic::catch_panic;
pub use rng::{Rng, SeededRng, SystemRng};
pub use spawner::{BoxFuture, Spawner, TokioSpawner};

use protocol::{ActorId, AttemptId, JobId, ReservationId};

/// The ports together.
#[derive(Clone)]
pub struct Runtime {
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// Chance.
    pub rng: Arc<dyn Rng>,
    /// Tasks.
    pub spawner: Arc<dyn Spawner>,
}

impl Runtime {
    /// The real clock, the system's chance and tokio's tasks.
    #[must_use]
    pub fn system() -> Self {
        Self {
            clock: Arc::new(SystemClock),
            rng: Arc::new(SystemRng::new()),
            spawner: Arc::new(TokioSpawner),
        }
    }

    fn new_id(&self) -> u128 {
        protocol::id::v7(self.clock.unix_ms(), self.rng.next_u128())
    }

    /// A new job id.
    #[must_use]
    pub fn new_job_id(&self) -> JobId {
        JobId(self.new_id())
    }

    /// A new attempt id.
    #[must_use]
    pub fn new_attempt_id(&self) -> AttemptId {
        AttemptId(self.new_id())
    }

    /// A new reservation id.
    #[must_use]
    pub fn new_reservation_id(&self) -> ReservationId {
        ReservationId(self.new_id())
    }

    /// A new id for an actor or an incarnation.
    #[must_use]
    pub fn new_actor_id(&self) -> ActorId {
        ActorId(self.new_id())
    }
}
