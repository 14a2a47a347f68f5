//! The port over the shelf: each batch row by row, under one lock.

use async_trait::async_trait;
use protocol::{Fault, Origin, Stamped, TargetId};

use super::{OracleRoom, Shelf};
use crate::{
    AcceptFailure, AcceptSuccess, Answer, AuthorizeAttempt, Authorized, CancelRequested, Configure, Durable,
    Ended, FinalizeCancel, InvalidateCheckpoint, Invalidated, PersistCheckpoint, Persisted, PoolRow,
    RaiseEpoch, ReapLostAttempt, RequestCancel, Retried, Retry, ScheduleRetry, Scheduled, StageSwept, Submit,
    Submitted,
};

impl OracleRoom {
    fn each<R, T>(&self, batch: &[R], decide: fn(&mut Shelf, &R) -> Stamped<T>) -> Answer<T> {
        let mut shelf = self.lock();
        Ok(batch.iter().map(|request| decide(&mut shelf, request)).collect())
    }
}

#[async_trait]
impl Durable for OracleRoom {
    async fn submit(&self, _: &Origin, batch: &[Submit]) -> Answer<Submitted> {
        self.each(batch, Shelf::submit)
    }

    async fn authorize_attempt(&self, _: &Origin, batch: &[AuthorizeAttempt]) -> Answer<Authorized> {
        self.each(batch, Shelf::authorize_attempt)
    }

    async fn persist_checkpoint(&self, _: &Origin, batch: &[PersistCheckpoint]) -> Answer<Persisted> {
        self.each(batch, Shelf::persist_checkpoint)
    }

    async fn accept_success(&self, _: &Origin, batch: &[AcceptSuccess]) -> Answer<Ended> {
        self.each(batch, Shelf::accept_success)
    }

    async fn accept_failure(&self, _: &Origin, batch: &[AcceptFailure]) -> Answer<Ended> {
        self.each(batch, Shelf::accept_failure)
    }

    async fn reap_lost_attempt(&self, _: &Origin, batch: &[ReapLostAttempt]) -> Answer<Ended> {
        self.each(batch, Shelf::reap_lost_attempt)
    }

    async fn schedule_retry(&self, _: &Origin, batch: &[ScheduleRetry]) -> Answer<Scheduled> {
        self.each(batch, Shelf::schedule_retry)
    }

    async fn request_cancel(&self, _: &Origin, batch: &[RequestCancel]) -> Answer<CancelRequested> {
        self.each(batch, Shelf::request_cancel)
    }

    async fn finalize_cancel(&self, _: &Origin, batch: &[FinalizeCancel]) -> Answer<Ended> {
        self.each(batch, Shelf::finalize_cancel)
    }

    async fn invalidate_checkpoint(&self, _: &Origin, batch: &[InvalidateCheckpoint]) -> Answer<Invalidated> {
        self.each(batch, Shelf::invalidate_checkpoint)
    }

    async fn retry(&self, _: &Origin, batch: &[Retry]) -> Answer<Retried> {
        self.each(batch, Shelf::retry)
    }

    async fn stages_swept(&self, _: &Origin, batch: &[StageSwept]) -> Result<(), Fault> {
        let mut shelf = self.lock();
        batch.iter().for_each(|report| shelf.stage_swept(report));
        Ok(())
    }

    async fn raise_epoch(&self, origin: &Origin, change: &RaiseEpoch) -> Result<Stamped<PoolRow>, Fault> {
        Ok(self.lock().raise_epoch(origin, *change))
    }

    async fn open_epoch(&self, _: &Origin, epoch: u64) -> Result<Stamped<PoolRow>, Fault> {
        Ok(self.lock().open_epoch(epoch))
    }

    async fn configure(&self, _: &Origin, change: &Configure) -> Result<PoolRow, Fault> {
        change.validate().map_err(|violation| Fault::unreachable("configure the pool", violation))?;
        Ok(self.lock().configure(change))
    }

    async fn adopt_target(&self, _: &Origin, target: TargetId) -> Result<TargetId, Fault> {
        Ok(self.lock().adopt_target(target))
    }
}
