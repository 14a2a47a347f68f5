//! The reaper: ends leases and reservations by age and revokes the authority of lost attempts (rule 3).
//!
//! When: every tenth of a lease. Judges only what coordination *answers*; its durable step names the attempt
//! it judged. Not its job: cancelling jobs (the canceller), leftovers (the cleaner).
//! Drives `ExpireLease`, `FalseSuspicion`, `ReapObserve`, `ReapLostAttempt`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use durable::{ReapLostAttempt, RunningAttempt};
use protocol::{AttemptId, Fault, Incarnation, JobId, Judged, Mark, Phase};
use tokio::sync::Notify;

use crate::driver::{Agent, Report};
use crate::ground::{Asking, Ground, count, observe, those_taken};

const PAGE: usize = 500;
const NAMES_KEPT: usize = 10_000;

/// See the module.
pub struct Reaper {
    ground: Arc<Ground>,
    /// Names of workers seen, for the record of the attempts they lose.
    names: Mutex<BTreeMap<Incarnation, String>>,
}

impl Reaper {
    /// A reaper on this ground.
    #[must_use]
    pub fn new(ground: Arc<Ground>) -> Self {
        Self { ground, names: Mutex::default() }
    }

    #[doc(alias = "ExpireLease")]
    async fn expire(&self) -> Result<u64, Fault> {
        let Some(Asking { sent, at, seen }) = self.ground.send_at() else { return Ok(0) };
        let answers = sent.of(self.ground.rooms.coordination.expire_lease(&at, PAGE)).await?;
        self.ground.check_stale(seen, &answers);
        let mut taken = 0;
        for expired in answers.into_iter().filter_map(|answer| answer.step.taken()) {
            tracing::info!(job = %expired.job, attempt = %expired.attempt, worker = %expired.worker, "a lease ended by age");
            taken += 1;
        }
        Ok(taken)
    }

    #[doc(alias = "FalseSuspicion")]
    async fn drop_reservations(&self) -> Result<u64, Fault> {
        let Some(Asking { sent, at, seen }) = self.ground.send_at() else { return Ok(0) };
        let answers = sent.of(self.ground.rooms.coordination.drop_reservation(&at, PAGE)).await?;
        self.ground.check_stale(seen, &answers);
        let dropped: Vec<JobId> =
            answers.into_iter().filter_map(|answer| answer.step.taken()).map(|dropped| dropped.job).collect();
        let taken = count(dropped.len());
        if taken > 0 {
            self.ground.offer(dropped);
        }
        Ok(taken)
    }

    async fn learn_names(&self) -> Result<(), Fault> {
        let workers = self.ground.rooms.coordination.workers().await?;
        let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        for worker in workers {
            if names.len() >= NAMES_KEPT {
                names.pop_first();
            }
            names.insert(worker.registration.worker, worker.registration.name);
        }
        Ok(())
    }

    /// Attempts that coordination shows with a live lease: they need no judgement. `None` when an old state came back.
    async fn leased(&self) -> Result<Option<BTreeSet<AttemptId>>, Fault> {
        let mut leased = BTreeSet::new();
        let mut after = None;
        loop {
            let seen = self.ground.seen();
            let page = self.ground.rooms.coordination.holdings(after, PAGE).await?;
            if self.ground.check_old(seen, page.mark) {
                return Ok(None);
            }
            leased.extend(page.jobs.iter().flat_map(|holding| &holding.leases).map(|lease| lease.attempt));
            after = page.jobs.last().map(|holding| holding.job);
            if !page.more || after.is_none() {
                return Ok(Some(leased));
            }
        }
    }

    /// Judges a page of running attempts and revokes those that are lost.
    #[doc(alias = "ReapObserve")]
    async fn judge(&self, page: &[&RunningAttempt]) -> Result<u64, Fault> {
        let Some(Asking { sent, at, seen }) = self.ground.send_at() else { return Ok(0) };
        let batch: Vec<_> = page.iter().map(|running| observe(running)).collect();
        let answers = sent.of(self.ground.rooms.coordination.reap_observe(&at, &batch)).await?;
        if self.ground.check_stale(seen, &answers) {
            return Ok(0);
        }
        let lost = those_taken(page, &answers).map(|(running, mark)| self.verdict(running, mark)).collect();
        self.reap(lost).await
    }

    fn verdict(&self, running: &RunningAttempt, mark: Mark) -> ReapLostAttempt {
        let names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        let name = names.get(&running.worker).map(|name| format!(" {name}")).unwrap_or_default();
        ReapLostAttempt {
            job: running.job,
            attempt: running.attempt,
            token: running.token,
            error: format!("the worker{name} ({}) was lost: its lease ended", running.worker),
            chance: self.ground.runtime.rng.next_u64(),
            judged: vec![Judged::coordination(mark)],
        }
    }

    #[doc(alias = "ReapLostAttempt")]
    async fn reap(&self, lost: Vec<ReapLostAttempt>) -> Result<u64, Fault> {
        if lost.is_empty() {
            return Ok(0);
        }
        let sent = self.ground.send();
        let answers = sent.of(self.ground.rooms.durable.reap_lost_attempt(&sent.origin, &lost)).await?;
        let reaped: Vec<JobId> = those_taken(&lost, &answers).map(|(request, _)| request.job).collect();
        for job in &reaped {
            tracing::info!(%job, "revoked a lost attempt");
        }
        self.ground.rooms.coordination.nudge(&reaped).await?;
        if let Some(Asking { sent, at, .. }) = self.ground.send_at() {
            let attempts: Vec<_> = lost.iter().map(|request| request.attempt).collect();
            sent.of(self.ground.rooms.coordination.settle(&at, &attempts)).await?;
        }
        Ok(count(reaped.len()))
    }
}

#[async_trait]
impl Agent for Reaper {
    fn name(&self) -> &'static str {
        "reaper"
    }

    fn period(&self) -> Duration {
        (self.ground.lease() / 10).clamp(Duration::from_millis(50), Duration::from_millis(1_500))
    }

    fn bell(&self) -> Arc<Notify> {
        Arc::clone(&self.ground.wake.reaper)
    }

    async fn pass(&self) -> Result<Report, Fault> {
        let taken = self.expire().await? + self.drop_reservations().await?;
        let mut report = Report { taken, again: None };
        let mut page = self.ground.rooms.durable.running(None, PAGE).await?;
        if page.is_empty() {
            return Ok(report);
        }
        self.learn_names().await?;
        let Some(leased) = self.leased().await? else { return Ok(report) };
        loop {
            let suspects: Vec<&RunningAttempt> = page
                .iter()
                .filter(|running| running.phase == Phase::Running && !leased.contains(&running.attempt))
                .collect();
            if !suspects.is_empty() {
                report.taken += self.judge(&suspects).await?;
            }
            let Some(last) = page.last().filter(|_| page.len() == PAGE) else { return Ok(report) };
            page = self.ground.rooms.durable.running(Some(last.attempt), PAGE).await?;
        }
    }
}
