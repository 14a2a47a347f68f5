//! The port's actions over the pool: batches become turns.

use async_trait::async_trait;
use protocol::{AttemptId, Fault, Guard, Incarnation, InstallationId, JobId, Stamped};
use tokio::sync::broadcast;

use super::epoch::{Ended, Epoch};
use super::pool::Pool;
use super::turn::{Done, Turn};
use super::{MemoryRoom, actions};
use crate::*;

impl MemoryRoom {
    fn each<R, T>(&self, at: &At, batch: &[R], action: fn(&mut Turn<'_>, &R) -> Stamped<T>) -> Answer<T> {
        Ok(self.turn(at, |turn| batch.iter().map(|request| action(turn, request)).collect()))
    }
}

#[async_trait]
impl Coordination for MemoryRoom {
    async fn enqueue(&self, at: &At, batch: &[Enqueue]) -> Answer<Enqueued> {
        self.each(at, batch, actions::enqueue)
    }

    async fn reserve(&self, at: &At, request: &Reserve) -> Answer<Reserved> {
        Ok(self.turn(at, |turn| {
            request.reservations.iter().map(|id| actions::reserve(turn, request, *id)).collect()
        }))
    }

    async fn claim_refused(&self, at: &At, batch: &[HandBack]) -> Answer<()> {
        self.each(at, batch, actions::claim_refused)
    }

    async fn activate_attempt(&self, at: &At, batch: &[ActivateAttempt]) -> Answer<Lease> {
        self.each(at, batch, actions::activate_attempt)
    }

    async fn renew_lease(&self, at: &At, batch: &[RenewLease]) -> Answer<Renewed> {
        self.each(at, batch, actions::renew_lease)
    }

    async fn renew_reservation(&self, at: &At, batch: &[HandBack]) -> Answer<()> {
        self.each(at, batch, actions::renew_reservation)
    }

    async fn expire_lease(&self, at: &At, limit: usize) -> Answer<ExpiredLease> {
        Ok(self.turn(at, |turn| actions::expire_lease(turn, limit)))
    }

    async fn drop_reservation(&self, at: &At, limit: usize) -> Answer<DroppedReservation> {
        Ok(self.turn(at, |turn| actions::false_suspicion(turn, limit)))
    }

    async fn release_reservation(&self, at: &At, batch: &[ReleaseReservation]) -> Answer<()> {
        self.each(at, batch, actions::release_reservation)
    }

    async fn release_lease(&self, at: &At, batch: &[ReleaseLease]) -> Answer<()> {
        self.each(at, batch, actions::release_lease)
    }

    async fn publish_cancel_notice(&self, at: &At, batch: &[PublishCancelNotice]) -> Answer<()> {
        self.each(at, batch, actions::publish_cancel_notice)
    }

    async fn clean_terminal_coordination(&self, at: &At, batch: &[CleanTerminal]) -> Answer<()> {
        self.each(at, batch, actions::clean_terminal_coordination)
    }

    async fn report_progress(&self, at: &At, batch: &[ReportProgress]) -> Answer<()> {
        self.each(at, batch, actions::report_progress)
    }

    async fn restore_lease(&self, at: &At, batch: &[RestoreLease]) -> Answer<Lease> {
        self.each(at, batch, actions::restore_lease)
    }

    async fn reap_observe(&self, at: &At, batch: &[ReapObserve]) -> Answer<()> {
        self.each(at, batch, actions::reap_observe)
    }

    async fn settle(&self, at: &At, attempts: &[AttemptId]) -> Answer<()> {
        self.each(at, attempts, |turn, attempt| {
            let decision = turn.current().map(|()| {
                if turn.pool.epoch.end(*attempt, Ended::Seen) {
                    turn.wake(Wake::Freed);
                }
                Done::Now(())
            });
            turn.answer_unrecorded(decision)
        })
    }

    async fn register(&self, at: &At, registration: &Registration) -> Result<Stamped<Registered>, Fault> {
        Ok(self.turn(at, |turn| {
            let decision = turn.current().map(|()| {
                if turn.pool.workers.put(registration, turn.now) {
                    turn.wake(Wake::Served);
                }
                let waiting = turn.pool.windows.states().map(|state| state.window);
                Done::Now(Registered {
                    windows: waiting.filter(|window| registration.serves(window)).collect(),
                    lease_ms: turn.pool.config.lease_ms,
                    drain: turn.pool.workers.is_asked_to_drain(registration.worker),
                })
            });
            turn.answer_unrecorded(decision)
        }))
    }

    async fn deregister(&self, at: &At, worker: Incarnation) -> Result<(), Fault> {
        self.turn(at, |turn| {
            if turn.current().is_ok() && turn.pool.workers.remove(worker).is_some() {
                turn.wake(Wake::Served);
            }
        });
        Ok(())
    }

    async fn request_drain(&self, at: &At, worker: Incarnation) -> Result<Stamped<bool>, Fault> {
        Ok(self.turn(at, |turn| {
            let decision = turn.current().map(|()| Done::Before(turn.pool.workers.ask_to_drain(worker)));
            turn.answer_unrecorded(decision)
        }))
    }

    async fn configure(&self, at: &At, config: &PoolConfig) -> Result<Stamped<()>, Fault> {
        Ok(self.turn(at, |turn| {
            let decision = turn.current().map(|()| {
                if config.revision <= turn.pool.config.revision {
                    return Done::Before(());
                }
                turn.pool.config = config.clone();
                turn.wake(Wake::Freed);
                Done::Now(())
            });
            turn.answer_unrecorded(decision)
        }))
    }

    async fn install_epoch(&self, epoch: u64, installation: InstallationId) -> Result<PoolState, Fault> {
        let mut shelf = self.lock();
        let theirs = shelf.pool.epoch.installation.is_some_and(|whose| whose != installation);
        if shelf.installed < epoch && !theirs {
            self.empty(&mut shelf);
            shelf.installed = epoch;
            shelf.pool = Pool { epoch: Epoch::install(epoch, installation, shelf.now), ..Pool::empty() };
        }
        Ok(shelf.pool.state(shelf.now))
    }

    async fn account(&self, at: &At, attempts: &[AttemptId]) -> Result<Stamped<()>, Fault> {
        Ok(self.turn(at, |turn| {
            let decision = turn.current().and_then(|()| {
                if turn.pool.epoch.open {
                    return Err(Guard::Opening);
                }
                for attempt in attempts {
                    if turn.pool.leases.get(*attempt).is_none() {
                        turn.pool.epoch.account(*attempt);
                    }
                }
                Ok(Done::Now(()))
            });
            turn.answer_unrecorded(decision)
        }))
    }

    async fn open_epoch(&self, at: &At) -> Result<Stamped<()>, Fault> {
        Ok(self.turn(at, |turn| {
            let decision = turn.current().map(|()| {
                if std::mem::replace(&mut turn.pool.epoch.open, true) {
                    return Done::Before(());
                }
                turn.wake(Wake::Epoch);
                Done::Now(())
            });
            turn.answer_unrecorded(decision)
        }))
    }

    async fn nudge(&self, jobs: &[JobId]) -> Result<(), Fault> {
        self.send(Wake::Nudged(jobs.to_vec()));
        Ok(())
    }

    fn wakes(&self) -> broadcast::Receiver<Wake> {
        self.wakes.subscribe()
    }
}
