//! The canceller: tells workers of cancels, and ends those that nobody will end (protocol rule 11).
//!
//! When: on a nudge, and every quarter of a lease. Ends a cancel itself only when coordination *answers* that
//! there is no lease and no reservation, or after two lease lengths. Not its job: accepting cancels.
//! Drives `PublishCancelNotice` and, for lost workers, `FinalizeCancel`.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use coordination::PublishCancelNotice;
use durable::{FinalizeCancel, RunningAttempt};
use protocol::{Fault, JobId, Judged, Phase};
use tokio::sync::Notify;

use crate::driver::{Agent, Report};
use crate::ground::{Asking, Ground, count, observe, taken, those_taken};

const PAGE: usize = 500;

/// See the module.
pub struct Canceller {
    ground: Arc<Ground>,
}

impl Canceller {
    /// A canceller on this ground.
    #[must_use]
    pub fn new(ground: Arc<Ground>) -> Self {
        Self { ground }
    }

    #[doc(alias = "PublishCancelNotice")]
    async fn publish(&self, cancelling: &[&RunningAttempt]) -> Result<u64, Fault> {
        let Some(Asking { sent, at, seen }) = self.ground.send_at() else { return Ok(0) };
        let batch: Vec<_> = cancelling
            .iter()
            .map(|running| PublishCancelNotice {
                job: running.job,
                attempt: running.attempt,
                judged: vec![Judged::durable(running.mark)],
            })
            .collect();
        let answers = sent.of(self.ground.rooms.coordination.publish_cancel_notice(&at, &batch)).await?;
        self.ground.check_stale(seen, &answers);
        Ok(taken(&answers))
    }

    /// Those whose worker is gone by coordination's answer, or that were given two lease lengths.
    async fn abandoned(&self, cancelling: &[&RunningAttempt]) -> Result<Vec<FinalizeCancel>, Fault> {
        let patience = self.ground.lease() * 2;
        let mut abandoned = Vec::new();
        let mut unsure = Vec::new();
        for running in cancelling {
            let waited = running.cancel_requested_at.map_or(0, |since| running.now.since_ms(since));
            if Duration::from_millis(waited) > patience {
                abandoned.push(finalize(running, Vec::new()));
            } else {
                unsure.push(*running);
            }
        }
        if unsure.is_empty() {
            return Ok(abandoned);
        }
        let Some(Asking { sent, at, seen }) = self.ground.send_at() else { return Ok(abandoned) };
        let batch: Vec<_> = unsure.iter().map(|running| observe(running)).collect();
        let answers = sent.of(self.ground.rooms.coordination.reap_observe(&at, &batch)).await?;
        if self.ground.check_stale(seen, &answers) {
            return Ok(abandoned);
        }
        let gone = those_taken(&unsure, &answers);
        abandoned.extend(gone.map(|(running, mark)| finalize(running, vec![Judged::coordination(mark)])));
        Ok(abandoned)
    }

    #[doc(alias = "FinalizeCancel")]
    async fn finalize(&self, abandoned: Vec<FinalizeCancel>) -> Result<u64, Fault> {
        if abandoned.is_empty() {
            return Ok(0);
        }
        let sent = self.ground.send();
        let answers = sent.of(self.ground.rooms.durable.finalize_cancel(&sent.origin, &abandoned)).await?;
        let ended: Vec<JobId> = those_taken(&abandoned, &answers).map(|(request, _)| request.job).collect();
        self.ground.rooms.coordination.nudge(&ended).await?;
        Ok(count(ended.len()))
    }
}

fn finalize(running: &RunningAttempt, judged: Vec<Judged>) -> FinalizeCancel {
    FinalizeCancel { job: running.job, attempt: running.attempt, judged }
}

#[async_trait]
impl Agent for Canceller {
    fn name(&self) -> &'static str {
        "canceller"
    }

    fn period(&self) -> Duration {
        (self.ground.lease() / 4).clamp(Duration::from_millis(100), Duration::from_secs(2))
    }

    fn bell(&self) -> Arc<Notify> {
        Arc::clone(&self.ground.wake.canceller)
    }

    fn rest(&self) -> Duration {
        Duration::from_millis(20)
    }

    async fn pass(&self) -> Result<Report, Fault> {
        let mut report = Report::default();
        let mut after = None;
        loop {
            let page = self.ground.rooms.durable.running(after, PAGE).await?;
            let cancelling: Vec<&RunningAttempt> =
                page.iter().filter(|running| running.phase == Phase::Cancelling).collect();
            if !cancelling.is_empty() {
                report.taken += self.publish(&cancelling).await?;
                let abandoned = self.abandoned(&cancelling).await?;
                report.taken += self.finalize(abandoned).await?;
            }
            after = page.last().map(|running| running.attempt);
            if page.len() < PAGE {
                return Ok(report);
            }
        }
    }
}
