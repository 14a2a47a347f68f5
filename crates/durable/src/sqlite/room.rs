//! The port over the writer: each action hands its batch over with the function that decides one row.

use async_trait::async_trait;
use protocol::{Fault, FaultKind, Origin, Stamped, TargetId};

use super::SqliteRoom;
use super::actions;
use crate::{
    AcceptFailure, AcceptSuccess, Answer, AuthorizeAttempt, Authorized, CancelRequested, Configure, Durable,
    Ended, FinalizeCancel, InvalidateCheckpoint, Invalidated, PersistCheckpoint, Persisted, PoolRow,
    RaiseEpoch, ReapLostAttempt, RequestCancel, Retried, Retry, ScheduleRetry, Scheduled, StageSwept, Submit,
    Submitted,
};

/// The answer to a batch of one.
fn single<T>(answer: Vec<Stamped<T>>, doing: &str) -> Result<Stamped<T>, Fault> {
    answer.into_iter().next().ok_or_else(|| Fault::new(FaultKind::Corrupt, doing.to_owned()))
}

#[async_trait]
impl Durable for SqliteRoom {
    async fn submit(&self, origin: &Origin, batch: &[Submit]) -> Answer<Submitted> {
        self.writer.batch("submit jobs", origin, batch, actions::submit).await
    }

    async fn authorize_attempt(&self, origin: &Origin, batch: &[AuthorizeAttempt]) -> Answer<Authorized> {
        self.writer.batch("claim attempts", origin, batch, actions::authorize_attempt).await
    }

    async fn persist_checkpoint(&self, origin: &Origin, batch: &[PersistCheckpoint]) -> Answer<Persisted> {
        self.writer.batch("persist checkpoints", origin, batch, actions::persist_checkpoint).await
    }

    async fn accept_success(&self, origin: &Origin, batch: &[AcceptSuccess]) -> Answer<Ended> {
        self.writer.batch("publish results", origin, batch, actions::accept_success).await
    }

    async fn accept_failure(&self, origin: &Origin, batch: &[AcceptFailure]) -> Answer<Ended> {
        self.writer.batch("accept failures", origin, batch, actions::accept_failure).await
    }

    async fn reap_lost_attempt(&self, origin: &Origin, batch: &[ReapLostAttempt]) -> Answer<Ended> {
        self.writer.batch("reap lost attempts", origin, batch, actions::reap_lost_attempt).await
    }

    async fn schedule_retry(&self, origin: &Origin, batch: &[ScheduleRetry]) -> Answer<Scheduled> {
        self.writer.batch("schedule retries", origin, batch, actions::schedule_retry).await
    }

    async fn request_cancel(&self, origin: &Origin, batch: &[RequestCancel]) -> Answer<CancelRequested> {
        self.writer.batch("request cancels", origin, batch, actions::request_cancel).await
    }

    async fn finalize_cancel(&self, origin: &Origin, batch: &[FinalizeCancel]) -> Answer<Ended> {
        self.writer.batch("finalize cancels", origin, batch, actions::finalize_cancel).await
    }

    async fn invalidate_checkpoint(
        &self,
        origin: &Origin,
        batch: &[InvalidateCheckpoint],
    ) -> Answer<Invalidated> {
        self.writer.batch("invalidate checkpoints", origin, batch, actions::invalidate_checkpoint).await
    }

    async fn retry(&self, origin: &Origin, batch: &[Retry]) -> Answer<Retried> {
        self.writer.batch("retry jobs", origin, batch, actions::retry).await
    }

    async fn stages_swept(&self, origin: &Origin, batch: &[StageSwept]) -> Result<(), Fault> {
        self.writer.batch("record sweeps", origin, batch, actions::stages_swept).await.map(drop)
    }

    async fn raise_epoch(&self, origin: &Origin, change: &RaiseEpoch) -> Result<Stamped<PoolRow>, Fault> {
        let doing = "raise the pool's epoch";
        single(self.writer.batch(doing, origin, &[*change], actions::raise_epoch).await?, doing)
    }

    async fn open_epoch(&self, origin: &Origin, epoch: u64) -> Result<Stamped<PoolRow>, Fault> {
        let doing = "open the pool's epoch";
        single(self.writer.batch(doing, origin, &[epoch], actions::open_epoch).await?, doing)
    }

    async fn configure(&self, origin: &Origin, change: &Configure) -> Result<PoolRow, Fault> {
        let doing = "configure the pool";
        change.validate().map_err(|violation| Fault::unreachable(doing, violation))?;
        let batch =
            self.writer.batch(doing, origin, std::slice::from_ref(change), actions::configure).await?;
        let refused = || Fault::new(FaultKind::Corrupt, doing.to_owned());
        single(batch, doing)?.step.taken().ok_or_else(refused)
    }

    async fn adopt_target(&self, origin: &Origin, target: TargetId) -> Result<TargetId, Fault> {
        let doing = "remember the target";
        let batch = self.writer.batch(doing, origin, &[target], actions::adopt_target).await?;
        let row = single(batch, doing)?.step.taken();
        row.and_then(|row| row.target).ok_or_else(|| Fault::new(FaultKind::Corrupt, doing.to_owned()))
    }
}
