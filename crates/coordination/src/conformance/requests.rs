//! Each action asked for one element, with small numbers for ids.

use protocol::{
    AttemptId, Incarnation, JobId, Position, ReservationId, Stamped, Step, Timestamp, Token, UserProgress,
    Window,
};

use super::pool::{Pool, usual};
use crate::{
    ActivateAttempt, CleanTerminal, Enqueue, Enqueued, HandBack, Lease, PublishCancelNotice, ReapObserve,
    ReleaseLease, ReleaseReservation, RenewLease, Renewed, ReportProgress, Reserve, Reserved, RestoreLease,
};

/// The only answer of a batch of one.
fn only<T>(answer: crate::Answer<T>) -> Step<T> {
    let mut answers: Vec<Stamped<T>> = answer.expect("an answer");
    assert_eq!(answers.len(), 1, "one answer for one element");
    answers.remove(0).step
}

/// The request that puts a job into a window at a position.
#[must_use]
pub(super) fn enqueue_request(job: u128, window: Window, position: u64) -> Enqueue {
    Enqueue {
        job: JobId(job),
        window,
        position: Position { due: Timestamp(0), sequence: position },
        checkpoint_revision: 0,
        judged: Vec::new(),
    }
}

/// The request that names a reservation and its holder.
#[must_use]
pub(super) fn hand_back_request(job: u128, reservation: u128, worker: u128) -> HandBack {
    HandBack { job: JobId(job), reservation: ReservationId(reservation), worker: Incarnation(worker) }
}

impl Pool {
    /// `Enqueue` into the usual window, ordered by the job's number.
    pub async fn enqueue(&self, job: u128) -> Step<Enqueued> {
        self.enqueue_into(job, usual(), u64::try_from(job).expect("a small number")).await
    }

    /// `Enqueue` into a window at a position.
    pub async fn enqueue_into(&self, job: u128, window: Window, position: u64) -> Step<Enqueued> {
        only(self.room().enqueue(&self.at(), &[enqueue_request(job, window, position)]).await)
    }

    /// `Reserve` of one place from the usual window.
    pub async fn reserve(&self, worker: u128, reservation: u128) -> Step<Reserved> {
        self.reserve_from(worker, reservation, &[usual()]).await
    }

    /// `Reserve` of one place.
    pub async fn reserve_from(&self, worker: u128, reservation: u128, windows: &[Window]) -> Step<Reserved> {
        let request = Reserve {
            worker: Incarnation(worker),
            reservations: vec![ReservationId(reservation)],
            windows: windows.to_vec(),
        };
        only(self.room().reserve(&self.at(), &request).await)
    }

    /// `ClaimRefused`.
    pub async fn hand_back(&self, job: u128, reservation: u128, worker: u128) -> Step<()> {
        only(self.room().claim_refused(&self.at(), &[hand_back_request(job, reservation, worker)]).await)
    }

    /// Renews a reservation.
    pub async fn renew_reservation(&self, job: u128, reservation: u128, worker: u128) -> Step<()> {
        only(self.room().renew_reservation(&self.at(), &[hand_back_request(job, reservation, worker)]).await)
    }

    /// `ActivateAttempt`; the attempt's token is 1.
    pub async fn activate(&self, job: u128, attempt: u128, reservation: u128, worker: u128) -> Step<Lease> {
        let request = ActivateAttempt {
            job: JobId(job),
            attempt: AttemptId(attempt),
            token: Token(1),
            reservation: ReservationId(reservation),
            worker: Incarnation(worker),
            judged: Vec::new(),
        };
        only(self.room().activate_attempt(&self.at(), &[request]).await)
    }

    /// Brings a job to a live lease: its attempt and reservation have the job's number.
    pub async fn execute(&self, job: u128, worker: u128) {
        assert!(self.enqueue(job).await.taken().is_some(), "enqueued");
        assert!(self.reserve(worker, job).await.taken().is_some(), "reserved");
        assert!(self.activate(job, job, job, worker).await.taken().is_some(), "activated");
    }

    /// `RenewLease`.
    pub async fn renew(&self, job: u128, attempt: u128, worker: u128) -> Step<Renewed> {
        let request =
            RenewLease { job: JobId(job), attempt: AttemptId(attempt), worker: Incarnation(worker) };
        only(self.room().renew_lease(&self.at(), &[request]).await)
    }

    /// `ExpireLease`: the attempts whose leases ended, or the refusal.
    pub async fn expire(&self, limit: usize) -> Vec<Step<u128>> {
        let answer = self.room().expire_lease(&self.at(), limit).await.expect("an answer");
        answer.into_iter().map(|one| map(one.step, |lease| lease.attempt.0)).collect()
    }

    /// `FalseSuspicion`: the reservations that were dropped, or the refusal.
    pub async fn drop_overdue(&self, limit: usize) -> Vec<Step<u128>> {
        let answer = self.room().drop_reservation(&self.at(), limit).await.expect("an answer");
        answer.into_iter().map(|one| map(one.step, |dropped| dropped.reservation.0)).collect()
    }

    /// `ReleaseReservation`.
    pub async fn release_reservation(&self, job: u128, reservation: u128) -> Step<()> {
        let request = ReleaseReservation {
            job: JobId(job),
            reservation: ReservationId(reservation),
            judged: Vec::new(),
        };
        only(self.room().release_reservation(&self.at(), &[request]).await)
    }

    /// `ReleaseLease`.
    pub async fn release(&self, job: u128, attempt: u128) -> Step<()> {
        let request = ReleaseLease { job: JobId(job), attempt: AttemptId(attempt), judged: Vec::new() };
        only(self.room().release_lease(&self.at(), &[request]).await)
    }

    /// `PublishCancelNotice`.
    pub async fn notice(&self, job: u128, attempt: u128) -> Step<()> {
        let request =
            PublishCancelNotice { job: JobId(job), attempt: AttemptId(attempt), judged: Vec::new() };
        only(self.room().publish_cancel_notice(&self.at(), &[request]).await)
    }

    /// `CleanTerminalCoordination`.
    pub async fn clean(&self, job: u128) -> Step<()> {
        let request = CleanTerminal { job: JobId(job), judged: Vec::new() };
        only(self.room().clean_terminal_coordination(&self.at(), &[request]).await)
    }

    /// `ReportProgress` of so many steps.
    pub async fn report(&self, job: u128, attempt: u128, worker: u128, done: u64) -> Step<()> {
        let request = ReportProgress {
            job: JobId(job),
            attempt: AttemptId(attempt),
            worker: Incarnation(worker),
            progress: UserProgress { done, total: Some(9), message: None },
            judged: Vec::new(),
        };
        only(self.room().report_progress(&self.at(), &[request]).await)
    }

    /// `RestoreLease`; the attempt's token is 1.
    pub async fn restore(&self, job: u128, attempt: u128, worker: u128) -> Step<Lease> {
        let request = RestoreLease {
            job: JobId(job),
            attempt: AttemptId(attempt),
            token: Token(1),
            worker: Incarnation(worker),
            judged: Vec::new(),
        };
        only(self.room().restore_lease(&self.at(), &[request]).await)
    }

    /// `ReapObserve` by a reaper, of an attempt claimed in this epoch.
    pub async fn observe(&self, job: u128, attempt: u128, worker: u128, claimed_epoch: u64) -> Step<()> {
        self.observe_as(job, attempt, worker, (claimed_epoch, false)).await
    }

    /// `ReapObserve` of an attempt claimed in an epoch, by its holder or not.
    pub async fn observe_as(
        &self,
        job: u128,
        attempt: u128,
        worker: u128,
        (claimed_epoch, by_holder): (u64, bool),
    ) -> Step<()> {
        let request = ReapObserve {
            job: JobId(job),
            attempt: AttemptId(attempt),
            worker: Incarnation(worker),
            claimed_epoch,
            by_holder,
        };
        only(self.room().reap_observe(&self.at(), &[request]).await)
    }

    /// An attempt's end.
    pub async fn settle(&self, attempt: u128) -> Step<()> {
        only(self.room().settle(&self.at(), &[AttemptId(attempt)]).await)
    }

    /// Puts attempts into `unaccounted`.
    pub async fn account(&self, attempts: &[u128]) -> Step<()> {
        let attempts: Vec<_> = attempts.iter().map(|attempt| AttemptId(*attempt)).collect();
        self.room().account(&self.at(), &attempts).await.expect("an answer").step
    }
}

fn map<T, U>(step: Step<T>, change: impl FnOnce(T) -> U) -> Step<U> {
    match step {
        Step::Taken(effect) => Step::Taken(change(effect)),
        Step::Refused(guard) => Step::Refused(guard),
        Step::SetAside(reason) => Step::SetAside(reason),
    }
}
