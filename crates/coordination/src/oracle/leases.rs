//! `ActivateAttempt`, `RenewLease`, `ExpireLease`, `ReleaseLease`, `RestoreLease`, `ReapObserve`: what says that an
//! attempt is alive.

use std::time::Duration;

use protocol::machine::{AttemptState, Move};
use protocol::{AttemptId, Guard, Incarnation, JobId, Token};

use super::{Ended, Ending, Shelf, Verdict, millis, need};
use crate::{
    ActivateAttempt, ExpiredLease, HeldLease, Lease, ReapObserve, ReleaseLease, RenewLease, Renewed,
    RestoreLease, Wake,
};

/// A live lease.
pub(super) struct LeaseNote {
    pub(super) job: JobId,
    pub(super) token: Token,
    pub(super) worker: Incarnation,
    /// The order in which leases were given.
    pub(super) given: u64,
    renewed_at: Duration,
    deadline: Duration,
}

impl Shelf {
    fn held(&self, attempt: AttemptId, job: JobId, worker: Incarnation) -> bool {
        self.leases.get(&attempt).is_some_and(|lease| (lease.job, lease.worker) == (job, worker))
    }

    fn make_young(&mut self, attempt: AttemptId) {
        let (now, length) = (self.now, self.lease());
        self.leases.entry(attempt).and_modify(|lease| {
            lease.renewed_at = now;
            lease.deadline = now.saturating_add(length);
        });
    }

    fn note(&mut self, attempt: AttemptId, job: JobId, token: Token, worker: Incarnation) {
        self.unaccounted.remove(&attempt);
        self.said.remove(&job);
        let (given, now) = (self.order, self.now);
        let note = LeaseNote { job, token, worker, given, renewed_at: now, deadline: now };
        self.leases.insert(attempt, note);
        self.make_young(attempt);
    }

    /// The lease is no more, and with it what it showed.
    fn forget_lease(&mut self, attempt: AttemptId, ended: Ended) {
        if let Some(lease) = self.leases.remove(&attempt)
            && self.law.row(lease.job).is_none_or(|row| row.live_progress_attempt.is_none())
        {
            self.said.remove(&lease.job);
        }
        self.end(attempt, ended);
        self.wake(Wake::Freed);
    }

    /// The attempt's stay in this epoch is over. Answers whether that freed a place of the set.
    pub(super) fn end(&mut self, attempt: AttemptId, ended: Ended) -> bool {
        if !self.grace_over {
            self.gone.entry(attempt).or_insert(ended);
        }
        self.unaccounted.remove(&attempt)
    }

    /// The ages that the clock gives to leases.
    pub(super) fn age_leases(&mut self) {
        for (attempt, lease) in &self.leases {
            let of = self.law.attempt(lease.job, *attempt);
            self.law.tick(of, lease.deadline <= self.now);
        }
    }

    pub(super) fn activate_attempt(&mut self, request: &ActivateAttempt) -> Verdict<Lease> {
        let ActivateAttempt { job, attempt, token, reservation, worker, .. } = *request;
        let lease = Lease { lease_ms: self.config.lease_ms };
        if self.held(attempt, job, worker) {
            self.make_young(attempt);
            return Ok(lease);
        }
        self.permit(job, reservation, Some(worker))?;
        need(!self.leases.contains_key(&attempt), Guard::ReservationHeld)?;
        let (of, by) = (self.law.attempt(job, attempt), self.law.worker(worker));
        self.law.knowing(of, Some(by), AttemptState::Authorized);
        self.law.step(Move::ActivateAttempt(of), self.places())?;
        self.forget_permit(job, Ending::Other);
        self.note(attempt, job, token, worker);
        Ok(lease)
    }

    pub(super) fn renew_lease(&mut self, request: &RenewLease) -> Verdict<Renewed> {
        let RenewLease { job, attempt, worker } = *request;
        need(self.held(attempt, job, worker), Guard::LeaseLive)?;
        let of = self.law.attempt(job, attempt);
        self.law.step(Move::RenewLease(of), self.places())?;
        self.make_young(attempt);
        let cancel_notice = self.law.row(job).is_some_and(|row| row.cancel_notice);
        Ok(Renewed { lease_ms: self.config.lease_ms, cancel_notice })
    }

    /// The leases past their length, the oldest first.
    pub(super) fn overdue_leases(&self, limit: usize) -> Vec<AttemptId> {
        let mut due: Vec<_> = self
            .leases
            .iter()
            .filter(|(_, lease)| lease.deadline <= self.now)
            .map(|(attempt, lease)| (lease.deadline, *attempt))
            .collect();
        due.sort_unstable();
        due.into_iter().take(limit).map(|(_, attempt)| attempt).collect()
    }

    pub(super) fn expire_lease(&mut self, attempt: AttemptId) -> Verdict<ExpiredLease> {
        let lease = self.leases.get(&attempt).ok_or(Guard::LeaseLive)?;
        let expired = ExpiredLease { job: lease.job, attempt, worker: lease.worker };
        let of = self.law.attempt(expired.job, attempt);
        self.law.step(Move::ExpireLease(of), self.places())?;
        self.forget_lease(attempt, Ended::ByAge);
        Ok(expired)
    }

    pub(super) fn release_lease(&mut self, request: &ReleaseLease) -> Verdict<()> {
        let of = self.law.attempt(request.job, request.attempt);
        self.law.step(Move::ReleaseLease(of), self.places())?;
        self.forget_lease(request.attempt, Ended::Seen);
        Ok(())
    }

    pub(super) fn restore_lease(&mut self, request: &RestoreLease) -> Verdict<Lease> {
        let RestoreLease { job, attempt, token, worker, .. } = *request;
        let lease = Lease { lease_ms: self.config.lease_ms };
        if self.leases.contains_key(&attempt) {
            need(self.held(attempt, job, worker), Guard::LeaseLive)?;
            self.make_young(attempt);
            return Ok(lease);
        }
        need(!self.grace_over, Guard::GraceOver)?;
        match self.gone.get(&attempt) {
            Some(Ended::ByAge) => return Err(Guard::LeaseEndedByAge),
            Some(Ended::Seen) => return Err(Guard::Authority),
            None => {}
        }
        let (of, by) = (self.law.attempt(job, attempt), self.law.worker(worker));
        self.law.knowing(of, Some(by), AttemptState::Executing);
        self.law.had_a_lease(of);
        // Its place moves from the set to the leases: no other has to be free.
        let places = if self.unaccounted.contains(&attempt) { usize::MAX } else { self.places() };
        self.law.step(Move::RestoreLease(of), places)?;
        self.note(attempt, job, token, worker);
        Ok(lease)
    }

    pub(super) fn reap_observe(&mut self, request: &ReapObserve) -> Verdict<()> {
        need(self.open, Guard::Opening)?;
        let older = request.claimed_epoch != self.epoch;
        need(!older || request.by_holder || self.grace_over, Guard::Grace)?;
        // An id is of one attempt, whichever job is named with it.
        need(!self.leases.contains_key(&request.attempt), Guard::LeaseNotLive)?;
        let (of, by) = (self.law.attempt(request.job, request.attempt), self.law.worker(request.worker));
        self.law.knowing(of, Some(by), AttemptState::Authorized);
        self.law.step(Move::ReapObserve(of), self.places())
    }

    pub(super) fn lease_view(&self, attempt: AttemptId, lease: &LeaseNote) -> HeldLease {
        HeldLease {
            job: lease.job,
            attempt,
            token: lease.token,
            worker: lease.worker,
            age_ms: millis(self.now.saturating_sub(lease.renewed_at)),
        }
    }
}
