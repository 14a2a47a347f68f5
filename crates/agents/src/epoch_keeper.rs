//! The epoch keeper: sees that coordination was lost and rebuilds it (protocol rule 9).
//!
//! When: at start, on *stale*, on a wake-up, and every second. Not its job: putting leases back; workers do.
//! Drives the repair after `LoseCoordinationState`; correct with any number of replicas, because the durable
//! compare-and-swap decides who raises and everybody else helps.
//!
//! An epoch is installed by the process that raised it, and once: what was lost while it was opening is not given its
//! number again, or workers would take their leases of its first life for current ones. Whoever finds one neither
//! installed nor its own waits a moment for whoever raised it, and then raises the next.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use coordination::{At, PoolState};
use durable::{PoolRow, RaiseEpoch};
use protocol::{AttemptId, Fault, Mark, Step};
use tokio::sync::Notify;

use crate::driver::{Agent, Report};
use crate::ground::Ground;

const PAGE: usize = 1_000;
/// How long an epoch that another process raised may take until it is installed. Too short: a slow process's epoch is
/// raised over; too long: after the death of a process in that moment coordination stays away for longer.
const PATIENCE: Duration = Duration::from_secs(1);
/// How often that is looked at.
const LOOK: Duration = Duration::from_millis(50);

/// See the module.
pub struct EpochKeeper {
    ground: Arc<Ground>,
    repair: Mutex<Repair>,
    /// Whether it was said that the pool is another installation's.
    told_of_stranger: AtomicBool,
}

/// What this process knows of an epoch that is opening.
#[derive(Debug, Default)]
struct Repair {
    /// One that this process raised, and has not asked to install yet.
    mine: Option<u64>,
    /// One that is not installed, and since when it has been seen so.
    missing: Option<(u64, Duration)>,
}

impl EpochKeeper {
    /// An epoch keeper on this ground.
    #[must_use]
    pub fn new(ground: Arc<Ground>) -> Self {
        Self { ground, repair: Mutex::default(), told_of_stranger: AtomicBool::new(false) }
    }

    fn repair(&self) -> MutexGuard<'_, Repair> {
        self.repair.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the pool is another installation's, which is said once and left to people.
    fn is_strangers(&self, row: &PoolRow, state: &PoolState) -> bool {
        let stranger = state.installation.filter(|whose| *whose != row.installation);
        if let Some(theirs) = stranger
            && !self.told_of_stranger.swap(true, Ordering::Relaxed)
        {
            tracing::error!(
                %theirs,
                ours = %row.installation,
                "the pool of coordination belongs to another installation: nothing runs here until --coordination names \
                 another pool, or that installation gives this one up"
            );
        }
        if stranger.is_none() {
            self.told_of_stranger.store(false, Ordering::Relaxed);
        }
        stranger.is_some()
    }

    async fn raise(&self, row: &PoolRow, to: u64) -> Result<(), Fault> {
        let durable = &self.ground.rooms.durable;
        if !row.open {
            // One that is opening is never raised: given up, it is open like any other that coordination has lost.
            let sent = self.ground.send();
            sent.of(durable.open_epoch(&sent.origin, row.epoch)).await?;
        }
        let sent = self.ground.send();
        let change = RaiseEpoch { from: row.epoch, to };
        match sent.of(durable.raise_epoch(&sent.origin, &change)).await?.step {
            Step::Taken(row) => {
                tracing::info!(epoch = row.epoch, "coordination was lost; rebuilding it");
                self.repair().mine = Some(row.epoch);
            }
            // Somebody else raised it; the next pass helps.
            Step::Refused(_) | Step::SetAside(_) => {}
        }
        Ok(())
    }

    /// Coordination does not have an epoch that is opening. `seen` is the highest moment that was seen of it before.
    async fn install(&self, row: &PoolRow, seen: Mark) -> Result<Report, Fault> {
        let soon = Report { taken: 1, again: Some(Duration::ZERO) };
        if seen.epoch >= row.epoch {
            // It was installed, and is lost.
            self.raise(row, seen.epoch + 1).await?;
            return Ok(soon);
        }
        if self.repair().mine.take_if(|mine| *mine == row.epoch).is_some() {
            let state = self.ground.rooms.coordination.install_epoch(row.epoch, row.installation).await?;
            if self.is_strangers(row, &state) {
                return Ok(Report::default());
            }
            self.ground.is_old(state.mark, seen);
            return Ok(soon);
        }
        let now = self.ground.runtime.clock.boottime();
        let since = {
            let mut repair = self.repair();
            let known = repair.missing.filter(|(epoch, _)| *epoch == row.epoch);
            repair.missing.insert(known.unwrap_or((row.epoch, now))).1
        };
        if now.saturating_sub(since) < PATIENCE {
            return Ok(Report { taken: 0, again: Some(LOOK) });
        }
        self.raise(row, row.epoch + 1).await?;
        Ok(soon)
    }

    /// Helps an epoch that is installed to open. What runs is accounted for also where the durable room says that it is
    /// open: whoever said so may have given it up.
    async fn help(&self, row: &PoolRow) -> Result<(), Fault> {
        let rooms = &self.ground.rooms;
        let sent = self.ground.send();
        let at = At { origin: sent.origin, epoch: row.epoch };
        sent.of(rooms.coordination.configure(&at, &row.config())).await?;
        let mut after: Option<AttemptId> = None;
        loop {
            let page = rooms.durable.running(after, PAGE).await?;
            let attempts: Vec<AttemptId> = page.iter().map(|running| running.attempt).collect();
            let Some(last) = attempts.last().copied() else { break };
            if sent.of(rooms.coordination.account(&at, &attempts)).await?.step.refused().is_some() {
                return Ok(());
            }
            after = Some(last);
        }
        let opened = row.open
            || sent.of(rooms.durable.open_epoch(&sent.origin, row.epoch)).await?.step.refused().is_none();
        if opened {
            self.open(row).await?;
        }
        Ok(())
    }

    async fn open(&self, row: &PoolRow) -> Result<(), Fault> {
        let sent = self.ground.send();
        let at = At { origin: sent.origin, epoch: row.epoch };
        sent.of(self.ground.rooms.coordination.configure(&at, &row.config())).await?;
        sent.of(self.ground.rooms.coordination.open_epoch(&at)).await?;
        Ok(())
    }

    async fn adopt(&self, row: &PoolRow, state: &PoolState) -> Result<(), Fault> {
        self.ground.set_lease_ms(row.lease_ms);
        if state.config.revision < row.config_revision {
            let sent = self.ground.send();
            let at = At { origin: sent.origin, epoch: row.epoch };
            sent.of(self.ground.rooms.coordination.configure(&at, &row.config())).await?;
        }
        if self.ground.adopt(row.epoch) {
            let wake = &self.ground.wake;
            for bell in
                [&wake.dispatcher, &wake.reaper, &wake.retry_scheduler, &wake.canceller, &wake.cleaner]
            {
                bell.notify_one();
            }
        }
        Ok(())
    }
}

#[async_trait]
impl Agent for EpochKeeper {
    fn name(&self) -> &'static str {
        "epoch_keeper"
    }

    fn period(&self) -> Duration {
        Duration::from_secs(1)
    }

    fn bell(&self) -> Arc<Notify> {
        Arc::clone(&self.ground.wake.epoch_keeper)
    }

    async fn pass(&self) -> Result<Report, Fault> {
        let row = self.ground.rooms.durable.pool().await?;
        let seen = self.ground.seen();
        let state = self.ground.rooms.coordination.pool().await?;
        if self.is_strangers(&row, &state) {
            return Ok(Report::default());
        }
        let old = self.ground.is_old(state.mark, seen);
        let held = state.mark.epoch;
        if held == row.epoch && !old {
            if row.open && state.open {
                self.adopt(&row, &state).await?;
                return Ok(Report::default());
            }
            self.help(&row).await?;
        } else if held < row.epoch && !row.open {
            return self.install(&row, seen).await;
        } else {
            self.raise(&row, held.max(row.epoch) + 1).await?;
        }
        Ok(Report { taken: 1, again: Some(Duration::ZERO) })
    }
}
