//! The port's actions: each is handed to its function.

use async_trait::async_trait;
use protocol::{AttemptId, Fault, Incarnation, InstallationId, JobId, Stamped};
use tokio::sync::broadcast;

use super::PostgresRoom;
use super::actions::*;
use crate::*;

#[async_trait]
impl Coordination for PostgresRoom {
    async fn enqueue(&self, at: &At, batch: &[Enqueue]) -> Answer<Enqueued> {
        self.desk.each::<EnqueueRows>(at, batch).await
    }

    async fn reserve(&self, at: &At, request: &Reserve) -> Answer<Reserved> {
        self.desk.reserve(at, request).await
    }

    async fn claim_refused(&self, at: &At, batch: &[HandBack]) -> Answer<()> {
        self.desk.each::<ClaimRefusedRows>(at, batch).await
    }

    async fn activate_attempt(&self, at: &At, batch: &[ActivateAttempt]) -> Answer<Lease> {
        self.desk.each::<ActivateAttemptRows>(at, batch).await
    }

    async fn renew_lease(&self, at: &At, batch: &[RenewLease]) -> Answer<Renewed> {
        self.desk.each::<RenewLeaseRows>(at, batch).await
    }

    async fn renew_reservation(&self, at: &At, batch: &[HandBack]) -> Answer<()> {
        self.desk.each::<RenewReservationRows>(at, batch).await
    }

    async fn expire_lease(&self, at: &At, limit: usize) -> Answer<ExpiredLease> {
        self.desk.expire_lease(at, limit).await
    }

    async fn drop_reservation(&self, at: &At, limit: usize) -> Answer<DroppedReservation> {
        self.desk.false_suspicion(at, limit).await
    }

    async fn release_reservation(&self, at: &At, batch: &[ReleaseReservation]) -> Answer<()> {
        self.desk.each::<ReleaseReservationRows>(at, batch).await
    }

    async fn release_lease(&self, at: &At, batch: &[ReleaseLease]) -> Answer<()> {
        self.desk.each::<ReleaseLeaseRows>(at, batch).await
    }

    async fn publish_cancel_notice(&self, at: &At, batch: &[PublishCancelNotice]) -> Answer<()> {
        self.desk.each::<PublishCancelNoticeRows>(at, batch).await
    }

    async fn clean_terminal_coordination(&self, at: &At, batch: &[CleanTerminal]) -> Answer<()> {
        self.desk.each::<CleanTerminalRows>(at, batch).await
    }

    async fn report_progress(&self, at: &At, batch: &[ReportProgress]) -> Answer<()> {
        self.desk.each::<ReportProgressRows>(at, batch).await
    }

    async fn restore_lease(&self, at: &At, batch: &[RestoreLease]) -> Answer<Lease> {
        self.desk.each::<RestoreLeaseRows>(at, batch).await
    }

    async fn reap_observe(&self, at: &At, batch: &[ReapObserve]) -> Answer<()> {
        self.desk.each::<ReapObserveRows>(at, batch).await
    }

    async fn settle(&self, at: &At, attempts: &[AttemptId]) -> Answer<()> {
        self.desk.each::<SettleRows>(at, attempts).await
    }

    async fn register(&self, at: &At, registration: &Registration) -> Result<Stamped<Registered>, Fault> {
        self.desk.register(at, registration).await
    }

    async fn deregister(&self, at: &At, worker: Incarnation) -> Result<(), Fault> {
        self.desk.deregister(at, worker).await
    }

    async fn request_drain(&self, at: &At, worker: Incarnation) -> Result<Stamped<bool>, Fault> {
        self.desk.request_drain(at, worker).await
    }

    async fn configure(&self, at: &At, config: &PoolConfig) -> Result<Stamped<()>, Fault> {
        self.desk.configure(at, config).await
    }

    async fn install_epoch(&self, epoch: u64, installation: InstallationId) -> Result<PoolState, Fault> {
        self.desk.install_epoch(epoch, installation).await
    }

    async fn account(&self, at: &At, attempts: &[AttemptId]) -> Result<Stamped<()>, Fault> {
        self.desk.account(at, attempts).await
    }

    async fn open_epoch(&self, at: &At) -> Result<Stamped<()>, Fault> {
        self.desk.open_epoch(at).await
    }

    async fn nudge(&self, jobs: &[JobId]) -> Result<(), Fault> {
        self.desk.hub.tell_one(Wake::Nudged(jobs.to_vec()));
        Ok(())
    }

    fn wakes(&self) -> broadcast::Receiver<Wake> {
        self.desk.hub.listen()
    }
}
