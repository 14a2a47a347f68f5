//! The port over the shelf: each batch element by element, under one lock.

use async_trait::async_trait;
use protocol::{AttemptId, Fault, Incarnation, InstallationId, JobId, Stamped, job, limit};
use tokio::sync::broadcast;

use super::{OracleRoom, Shelf, Verdict};
use crate::*;

impl OracleRoom {
    fn each<R, T>(&self, at: &At, batch: &[R], decide: fn(&mut Shelf, &R) -> Verdict<T>) -> Answer<T> {
        Ok(self.with(|shelf| {
            let one = |request| {
                let verdict = shelf.current(at).and_then(|()| decide(shelf, request));
                shelf.answer(verdict)
            };
            batch.iter().map(one).collect()
        }))
    }

    fn whole<T>(&self, at: &At, decide: impl FnOnce(&mut Shelf) -> Verdict<T>) -> Stamped<T> {
        self.with(|shelf| {
            let verdict = shelf.current(at).and_then(|()| decide(shelf));
            shelf.answer(verdict)
        })
    }

    /// Ends what is overdue, one by one.
    fn overdue<I, T>(
        &self,
        at: &At,
        find: impl FnOnce(&Shelf) -> Vec<I>,
        end: fn(&mut Shelf, I) -> Verdict<T>,
    ) -> Answer<T> {
        Ok(self.with(|shelf| {
            if let Err(stale) = shelf.current(at) {
                return vec![shelf.answer(Err(stale))];
            }
            let due = find(shelf);
            let one = |due| {
                let verdict = end(shelf, due);
                shelf.answer(verdict)
            };
            due.into_iter().map(one).collect()
        }))
    }
}

#[async_trait]
impl Coordination for OracleRoom {
    async fn enqueue(&self, at: &At, batch: &[Enqueue]) -> Answer<Enqueued> {
        self.each(at, batch, Shelf::enqueue)
    }

    async fn reserve(&self, at: &At, request: &Reserve) -> Answer<Reserved> {
        Ok(self.with(|shelf| {
            let one = |id| {
                let verdict = shelf.current(at).and_then(|()| shelf.reserve(request, id));
                shelf.answer(verdict)
            };
            request.reservations.iter().copied().map(one).collect()
        }))
    }

    async fn claim_refused(&self, at: &At, batch: &[HandBack]) -> Answer<()> {
        self.each(at, batch, Shelf::claim_refused)
    }

    async fn activate_attempt(&self, at: &At, batch: &[ActivateAttempt]) -> Answer<Lease> {
        self.each(at, batch, Shelf::activate_attempt)
    }

    async fn renew_lease(&self, at: &At, batch: &[RenewLease]) -> Answer<Renewed> {
        self.each(at, batch, Shelf::renew_lease)
    }

    async fn renew_reservation(&self, at: &At, batch: &[HandBack]) -> Answer<()> {
        self.each(at, batch, Shelf::renew_reservation)
    }

    async fn expire_lease(&self, at: &At, limit: usize) -> Answer<ExpiredLease> {
        self.overdue(at, |shelf| shelf.overdue_leases(limit), Shelf::expire_lease)
    }

    async fn drop_reservation(&self, at: &At, limit: usize) -> Answer<DroppedReservation> {
        self.overdue(at, |shelf| shelf.overdue_permits(limit), Shelf::drop_permit)
    }

    async fn release_reservation(&self, at: &At, batch: &[ReleaseReservation]) -> Answer<()> {
        self.each(at, batch, Shelf::release_reservation)
    }

    async fn release_lease(&self, at: &At, batch: &[ReleaseLease]) -> Answer<()> {
        self.each(at, batch, Shelf::release_lease)
    }

    async fn publish_cancel_notice(&self, at: &At, batch: &[PublishCancelNotice]) -> Answer<()> {
        self.each(at, batch, Shelf::publish_cancel_notice)
    }

    async fn clean_terminal_coordination(&self, at: &At, batch: &[CleanTerminal]) -> Answer<()> {
        self.each(at, batch, Shelf::clean_terminal_coordination)
    }

    async fn report_progress(&self, at: &At, batch: &[ReportProgress]) -> Answer<()> {
        Ok(self.with(|shelf| {
            let one = |request: &ReportProgress| {
                let message = request.progress.message.as_ref().map_or(0, String::len);
                if let Err(over) = job::check_size("message", message, limit::PROGRESS_MESSAGE_BYTES) {
                    return Stamped::set_aside(shelf.mark(), over.to_string());
                }
                let verdict = shelf.current(at).and_then(|()| shelf.report_progress(request));
                shelf.answer(verdict)
            };
            batch.iter().map(one).collect()
        }))
    }

    async fn restore_lease(&self, at: &At, batch: &[RestoreLease]) -> Answer<Lease> {
        self.each(at, batch, Shelf::restore_lease)
    }

    async fn reap_observe(&self, at: &At, batch: &[ReapObserve]) -> Answer<()> {
        self.each(at, batch, Shelf::reap_observe)
    }

    async fn settle(&self, at: &At, attempts: &[AttemptId]) -> Answer<()> {
        self.each(at, attempts, |shelf, attempt| {
            shelf.settle(*attempt);
            Ok(())
        })
    }

    async fn register(&self, at: &At, registration: &Registration) -> Result<Stamped<Registered>, Fault> {
        Ok(self.whole(at, |shelf| Ok(shelf.register(registration))))
    }

    async fn deregister(&self, at: &At, worker: Incarnation) -> Result<(), Fault> {
        self.whole(at, |shelf| {
            shelf.deregister(worker);
            Ok(())
        });
        Ok(())
    }

    async fn request_drain(&self, at: &At, worker: Incarnation) -> Result<Stamped<bool>, Fault> {
        Ok(self.whole(at, |shelf| Ok(shelf.request_drain(worker))))
    }

    async fn configure(&self, at: &At, config: &PoolConfig) -> Result<Stamped<()>, Fault> {
        Ok(self.whole(at, |shelf| {
            shelf.configure(config);
            Ok(())
        }))
    }

    async fn install_epoch(&self, epoch: u64, installation: InstallationId) -> Result<PoolState, Fault> {
        Ok(self.with(|shelf| {
            shelf.install_epoch(epoch, installation);
            shelf.pool_state()
        }))
    }

    async fn account(&self, at: &At, attempts: &[AttemptId]) -> Result<Stamped<()>, Fault> {
        Ok(self.whole(at, |shelf| shelf.account(attempts)))
    }

    async fn open_epoch(&self, at: &At) -> Result<Stamped<()>, Fault> {
        Ok(self.whole(at, |shelf| {
            shelf.open_epoch();
            Ok(())
        }))
    }

    async fn nudge(&self, jobs: &[JobId]) -> Result<(), Fault> {
        self.with(|shelf| shelf.wake(Wake::Nudged(jobs.to_vec())));
        Ok(())
    }

    fn wakes(&self) -> broadcast::Receiver<Wake> {
        self.wakes.subscribe()
    }
}
