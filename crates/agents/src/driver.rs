//! The common driver: period, wake-up, jitter, backoff, shutdown.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use coordination::Wake;
use protocol::{Fault, FaultKind, told};
use runtime::catch_panic;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{Notify, watch};

use crate::ground::Ground;
use crate::{Canceller, Cleaner, CleanerOptions, Dispatcher, EpochKeeper, Reaper, RetryScheduler};

/// What a pass did and when the next one is wanted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Report {
    /// Actions taken.
    pub taken: u64,
    /// Look again after so long; the agent's period when `None`.
    pub again: Option<Duration>,
}

/// An agent: one bounded pass at a time.
#[async_trait]
pub trait Agent: Send + Sync {
    /// For logs and metrics.
    fn name(&self) -> &'static str;

    /// The longest time between two passes.
    fn period(&self) -> Duration;

    /// The bell that asks for a pass before that.
    fn bell(&self) -> Arc<Notify>;

    /// The shortest time between two passes, however often the bell rings.
    fn rest(&self) -> Duration {
        Duration::from_millis(2)
    }

    /// One pass.
    async fn pass(&self) -> Result<Report, Fault>;
}

const LONGEST_BACKOFF: Duration = Duration::from_secs(5);

/// Runs one agent until shutdown.
async fn drive(ground: Arc<Ground>, agent: Arc<dyn Agent>, mut shutdown: watch::Receiver<bool>) {
    let clock = Arc::clone(&ground.runtime.clock);
    let bell = agent.bell();
    let mut backoff = Duration::from_millis(50);
    loop {
        // An agent that ended silently would leave its part undone for ever: it goes on after a panic, too.
        let wait = match catch_panic(agent.pass()).await {
            Ok(Ok(report)) => {
                backoff = Duration::from_millis(50);
                report.again.unwrap_or_else(|| agent.period())
            }
            failed => {
                match failed {
                    Ok(Err(fault)) if fault.kind == FaultKind::Corrupt => {
                        tracing::warn!(agent = agent.name(), error = %told(&fault), "pass failed");
                    }
                    // Whoever opened the rooms tells of a store that is away, once and not an agent and a pass.
                    Ok(Err(fault)) => {
                        tracing::debug!(agent = agent.name(), error = %told(&fault), "pass failed");
                    }
                    _ => tracing::error!(agent = agent.name(), panic = ?failed.err(), "a pass has a fault"),
                }
                backoff = (backoff * 2).min(LONGEST_BACKOFF);
                backoff
            }
        };
        let spread = u32::try_from(ground.runtime.rng.next_u64() % 20).unwrap_or(0);
        let wait = wait * (90 + spread) / 100;
        tokio::select! {
            biased;
            () = clock.sleep(wait) => {}
            () = bell.notified() => {}
            _ = shutdown.wait_for(|shutdown| *shutdown) => return,
        }
        clock.sleep(agent.rest()).await;
    }
}

/// Turns wake-ups of the coordination room into hints.
async fn listen(ground: Arc<Ground>, mut shutdown: watch::Receiver<bool>) {
    let mut wakes = ground.rooms.coordination.wakes();
    loop {
        let wake = tokio::select! {
            biased;
            wake = wakes.recv() => wake,
            _ = shutdown.wait_for(|shutdown| *shutdown) => return,
        };
        match wake {
            Ok(Wake::Nudged(jobs)) => ground.nudged(&jobs),
            Ok(Wake::Epoch) => ground.stale(),
            Ok(Wake::Served) => ground.wake.dispatcher.notify_one(),
            Ok(Wake::Freed | Wake::Queued(_) | Wake::CancelNotice(_) | Wake::Progress(_)) => {}
            Err(RecvError::Lagged(_)) => {
                ground.wake.dispatcher.notify_one();
                ground.wake.canceller.notify_one();
            }
            Err(RecvError::Closed) => return,
        }
    }
}

/// Starts all agents; they end soon after `shutdown` says so.
pub fn run_all(ground: &Arc<Ground>, options: CleanerOptions, shutdown: &watch::Receiver<bool>) {
    let agents: [Arc<dyn Agent>; 6] = [
        Arc::new(EpochKeeper::new(Arc::clone(ground))),
        Arc::new(Dispatcher::new(Arc::clone(ground))),
        Arc::new(Reaper::new(Arc::clone(ground))),
        Arc::new(RetryScheduler::new(Arc::clone(ground))),
        Arc::new(Canceller::new(Arc::clone(ground))),
        Arc::new(Cleaner::new(Arc::clone(ground), options)),
    ];
    let spawner = &ground.runtime.spawner;
    spawner.spawn(Box::pin(listen(Arc::clone(ground), shutdown.clone())));
    for agent in agents {
        spawner.spawn(Box::pin(drive(Arc::clone(ground), agent, shutdown.clone())));
    }
}
