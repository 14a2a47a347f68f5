//! The cleaner: takes away what coordination and target still hold of attempts and jobs that have ended.
//!
//! When: on a nudge, and every half lease. Not its job: anything a running attempt may still need; logs.
//! Drives `ReleaseLease`, `ReleaseReservation`, `CleanTerminalCoordination`, `CleanupStage`.

mod holdings;
mod stages;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use coordination::CleanTerminal;
use protocol::{Fault, Judged, Phase};
use tokio::sync::Notify;

use crate::driver::{Agent, Report};
use crate::ground::{Asking, Ground, taken};

/// The cleaner's options.
#[derive(Debug, Clone, Copy)]
pub struct CleanerOptions {
    /// Stages that nobody asked to sweep are looked at when older than this. Too small: work for nothing;
    /// too large: leftovers of lost rows stay longer.
    pub stage_ttl: Duration,
}

impl Default for CleanerOptions {
    fn default() -> Self {
        Self { stage_ttl: Duration::from_secs(24 * 3600) }
    }
}

/// See the module.
pub struct Cleaner {
    ground: Arc<Ground>,
    options: CleanerOptions,
    /// When to look for leftovers next, in milliseconds of boot time.
    leftovers_at: AtomicU64,
}

impl Cleaner {
    /// A cleaner on this ground.
    #[must_use]
    pub fn new(ground: Arc<Ground>, options: CleanerOptions) -> Self {
        Self { ground, options, leftovers_at: AtomicU64::new(0) }
    }

    /// Entries of jobs that were cancelled while queued.
    #[doc(alias = "CleanTerminalCoordination")]
    async fn clean_cancelled(&self) -> Result<u64, Fault> {
        let changed = self.ground.take_changed();
        if changed.is_empty() {
            return Ok(0);
        }
        let phases = self.ground.rooms.durable.phases(&changed).await?;
        let batch: Vec<CleanTerminal> = changed
            .iter()
            .zip(phases)
            .filter_map(|(job, read)| {
                let read = read.filter(|read| read.phase == Phase::Cancelled)?;
                Some(CleanTerminal { job: *job, judged: vec![Judged::durable(read.mark)] })
            })
            .collect();
        let Some(Asking { sent, at, seen }) = self.ground.send_at().filter(|_| !batch.is_empty()) else {
            return Ok(0);
        };
        let answers =
            sent.of(self.ground.rooms.coordination.clean_terminal_coordination(&at, &batch)).await?;
        self.ground.check_stale(seen, &answers);
        Ok(taken(&answers))
    }

    fn leftovers_are_due(&self) -> bool {
        let now = u64::try_from(self.ground.runtime.clock.boottime().as_millis()).unwrap_or(u64::MAX);
        let due = now >= self.leftovers_at.load(Ordering::Acquire);
        if due {
            let period = self.options.stage_ttl.clamp(Duration::from_secs(60), Duration::from_secs(3600));
            self.leftovers_at
                .store(now + u64::try_from(period.as_millis()).unwrap_or(u64::MAX), Ordering::Release);
        }
        due
    }
}

#[async_trait]
impl Agent for Cleaner {
    fn name(&self) -> &'static str {
        "cleaner"
    }

    fn period(&self) -> Duration {
        (self.ground.lease() / 2).clamp(Duration::from_millis(200), Duration::from_secs(5))
    }

    fn bell(&self) -> Arc<Notify> {
        Arc::clone(&self.ground.wake.cleaner)
    }

    fn rest(&self) -> Duration {
        Duration::from_millis(100)
    }

    async fn pass(&self) -> Result<Report, Fault> {
        let mut report = Report::default();
        report.taken += self.clean_cancelled().await?;
        report.taken += self.clean_holdings().await?;
        let (swept, more) = self.sweep_stages().await?;
        report.taken += swept;
        if self.leftovers_are_due() {
            report.taken += self.sweep_leftovers(self.options.stage_ttl).await?;
        }
        report.again = more.then_some(Duration::from_millis(10));
        Ok(report)
    }
}
