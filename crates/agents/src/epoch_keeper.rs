//! The epoch keeper: sees that coordination was lost and rebuilds it (protocol rule 9).
//!
//! When: at start, on *stale*, on a wake-up, and every second. Not its job: putting leases back; workers do.
//! Drives the repair after `LoseCoordinationState`; correct with any number of replicas, because the durable
//! compare-and-swap decides who raises and everybody else helps.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use coordination::{At, PoolConfig, PoolState};
use durable::{PoolRow, RaiseEpoch};
use protocol::{AttemptId, Fault, Mark, Step};
use tokio::sync::Notify;

use crate::driver::{Agent, Report};
use crate::ground::Ground;

const PAGE: usize = 1_000;

/// See the module.
pub struct EpochKeeper {
    ground: Arc<Ground>,
    /// The highest moment of the pool that this process has seen.
    highest: Mutex<Mark>,
    /// Whether it was said that the pool is another installation's.
    told_of_stranger: AtomicBool,
}

impl EpochKeeper {
    /// An epoch keeper on this ground.
    #[must_use]
    pub fn new(ground: Arc<Ground>) -> Self {
        Self { ground, highest: Mutex::default(), told_of_stranger: AtomicBool::new(false) }
    }

    fn highest(&self) -> Mark {
        *self.highest.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn saw(&self, mark: Mark) {
        let mut highest = self.highest.lock().unwrap_or_else(PoisonError::into_inner);
        *highest = (*highest).max(mark);
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

    async fn raise(&self, from: u64, to: u64) -> Result<(), Fault> {
        let sent = self.ground.send();
        let change = RaiseEpoch { from, to };
        let answer = sent.of(self.ground.rooms.durable.raise_epoch(&sent.origin, &change)).await?;
        match answer.step {
            Step::Taken(row) => tracing::info!(epoch = row.epoch, "coordination was lost; rebuilding it"),
            // Somebody else raised it; the next pass helps.
            Step::Refused(_) | Step::SetAside(_) => {}
        }
        Ok(())
    }

    /// Helps an opening epoch to open.
    async fn help(&self, row: &PoolRow) -> Result<(), Fault> {
        let rooms = &self.ground.rooms;
        let state = rooms.coordination.install_epoch(row.epoch, row.installation).await?;
        if self.is_strangers(row, &state) {
            return Ok(());
        }
        let sent = self.ground.send();
        let at = At { origin: sent.origin, epoch: row.epoch };
        sent.of(rooms.coordination.configure(&at, &config(row))).await?;
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
        if sent.of(rooms.durable.open_epoch(&sent.origin, row.epoch)).await?.step.refused().is_none() {
            self.open(row).await?;
        }
        Ok(())
    }

    async fn open(&self, row: &PoolRow) -> Result<(), Fault> {
        let sent = self.ground.send();
        let at = At { origin: sent.origin, epoch: row.epoch };
        sent.of(self.ground.rooms.coordination.configure(&at, &config(row))).await?;
        sent.of(self.ground.rooms.coordination.open_epoch(&at)).await?;
        Ok(())
    }

    async fn adopt(&self, row: &PoolRow, state: &PoolState) -> Result<(), Fault> {
        self.ground.set_lease_ms(row.lease_ms);
        if state.config.revision < row.config_revision {
            let sent = self.ground.send();
            let at = At { origin: sent.origin, epoch: row.epoch };
            sent.of(self.ground.rooms.coordination.configure(&at, &config(row))).await?;
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

fn config(row: &PoolRow) -> PoolConfig {
    PoolConfig {
        revision: row.config_revision,
        global_limit: row.global_limit,
        lease_ms: row.lease_ms,
        paused: row.paused.clone(),
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
        let seen_before = self.highest();
        let state = self.ground.rooms.coordination.pool().await?;
        if self.is_strangers(&row, &state) {
            return Ok(Report::default());
        }
        let old_snapshot = state.mark < seen_before;
        self.saw(state.mark);
        let held = state.mark.epoch;
        let soon = Report { taken: 1, again: Some(Duration::ZERO) };
        if row.open && held == row.epoch && !old_snapshot {
            if state.open {
                self.adopt(&row, &state).await?;
                return Ok(Report::default());
            }
            self.open(&row).await?;
        } else if row.open || held > row.epoch {
            self.raise(row.epoch, held.max(row.epoch) + 1).await?;
        } else {
            self.help(&row).await?;
        }
        Ok(soon)
    }
}
