//! The port's actions: each is handed to its script.

use async_trait::async_trait;
use protocol::{AttemptId, Fault, Incarnation, InstallationId, JobId, Stamped, job, limit};
use tokio::sync::broadcast;

use super::DragonflyRoom;
use super::actions::*;
use crate::*;

#[async_trait]
impl Coordination for DragonflyRoom {
    async fn enqueue(&self, at: &At, batch: &[Enqueue]) -> Answer<Enqueued> {
        self.shared.each::<EnqueueRows>(at, batch).await
    }

    async fn reserve(&self, at: &At, request: &Reserve) -> Answer<Reserved> {
        self.shared.reserve(at, request).await
    }

    async fn claim_refused(&self, at: &At, batch: &[HandBack]) -> Answer<()> {
        self.shared.each::<ClaimRefusedRows>(at, batch).await
    }

    async fn activate_attempt(&self, at: &At, batch: &[ActivateAttempt]) -> Answer<Lease> {
        self.shared.each::<ActivateAttemptRows>(at, batch).await
    }

    async fn renew_lease(&self, at: &At, batch: &[RenewLease]) -> Answer<Renewed> {
        self.shared.each::<RenewLeaseRows>(at, batch).await
    }

    async fn renew_reservation(&self, at: &At, batch: &[HandBack]) -> Answer<()> {
        self.shared.each::<RenewReservationRows>(at, batch).await
    }

    async fn expire_lease(&self, at: &At, limit: usize) -> Answer<ExpiredLease> {
        self.shared.expire_lease(at, limit).await
    }

    async fn drop_reservation(&self, at: &At, limit: usize) -> Answer<DroppedReservation> {
        self.shared.false_suspicion(at, limit).await
    }

    async fn release_reservation(&self, at: &At, batch: &[ReleaseReservation]) -> Answer<()> {
        self.shared.each::<ReleaseReservationRows>(at, batch).await
    }

    async fn release_lease(&self, at: &At, batch: &[ReleaseLease]) -> Answer<()> {
        self.shared.each::<ReleaseLeaseRows>(at, batch).await
    }

    async fn publish_cancel_notice(&self, at: &At, batch: &[PublishCancelNotice]) -> Answer<()> {
        self.shared.each::<PublishCancelNoticeRows>(at, batch).await
    }

    async fn clean_terminal_coordination(&self, at: &At, batch: &[CleanTerminal]) -> Answer<()> {
        self.shared.each::<CleanTerminalRows>(at, batch).await
    }

    async fn report_progress(&self, at: &At, batch: &[ReportProgress]) -> Answer<()> {
        let over = |request: &ReportProgress| {
            let message = request.progress.message.as_ref().map_or(0, String::len);
            job::check_size("message", message, limit::PROGRESS_MESSAGE_BYTES).err()
        };
        let sound: Vec<_> = batch.iter().filter(|request| over(request).is_none()).cloned().collect();
        let mut answers = self.shared.each::<ReportProgressRows>(at, &sound).await?.into_iter();
        let highest = self.shared.highest();
        let answer = |request| match over(request) {
            Some(violation) => Some(Stamped::set_aside(highest, violation.to_string())),
            None => answers.next(),
        };
        Ok(batch.iter().filter_map(answer).collect())
    }

    async fn restore_lease(&self, at: &At, batch: &[RestoreLease]) -> Answer<Lease> {
        self.shared.each::<RestoreLeaseRows>(at, batch).await
    }

    async fn reap_observe(&self, at: &At, batch: &[ReapObserve]) -> Answer<()> {
        self.shared.each::<ReapObserveRows>(at, batch).await
    }

    async fn settle(&self, at: &At, attempts: &[AttemptId]) -> Answer<()> {
        self.shared.each::<SettleRows>(at, attempts).await
    }

    async fn register(&self, at: &At, registration: &Registration) -> Result<Stamped<Registered>, Fault> {
        self.shared.register(at, registration).await
    }

    async fn deregister(&self, at: &At, worker: Incarnation) -> Result<(), Fault> {
        self.shared.deregister(at, worker).await
    }

    async fn request_drain(&self, at: &At, worker: Incarnation) -> Result<Stamped<bool>, Fault> {
        self.shared.request_drain(at, worker).await
    }

    async fn configure(&self, at: &At, config: &PoolConfig) -> Result<Stamped<()>, Fault> {
        self.shared.configure(at, config).await
    }

    async fn install_epoch(&self, epoch: u64, installation: InstallationId) -> Result<PoolState, Fault> {
        self.shared.install_epoch(epoch, installation).await
    }

    async fn account(&self, at: &At, attempts: &[AttemptId]) -> Result<Stamped<()>, Fault> {
        self.shared.account(at, attempts).await
    }

    async fn open_epoch(&self, at: &At) -> Result<Stamped<()>, Fault> {
        self.shared.open_epoch(at).await
    }

    async fn nudge(&self, jobs: &[JobId]) -> Result<(), Fault> {
        self.shared.hub.tell_one(Wake::Nudged(jobs.to_vec()));
        Ok(())
    }

    fn wakes(&self) -> broadcast::Receiver<Wake> {
        self.shared.hub.listen()
    }
}
