//! Events of the coordination store: each in the pool's order, a new epoch after a loss.

use protocol::machine::{Attempt, AttemptState, LeaseState, Move};
use protocol::{Action, Event, Guard, Phase};

use super::super::failure::Why;
use super::super::node::Trial;
use super::super::trace::{COORDINATION, DURABLE, Fact, JOB, raises, read_at};
use super::Effort;

impl Trial<'_> {
    pub(super) fn coordination(&mut self, fact: &Fact, effort: Effort) -> Result<(), Why> {
        let event = &fact.event;
        if event.epoch < self.node.epoch || self.node.lost && event.epoch == self.node.epoch {
            return Err(Why::Order("it is of an epoch that has ended"));
        }
        let may_lack = self.may_lack(COORDINATION, fact, effort);
        if event.epoch > self.node.epoch && self.node.epoch > 0 && !self.node.lost {
            if may_lack && event.action == Action::RestoreLease {
                self.lease_unrecorded(event)?;
            }
            self.lose()?;
        }
        self.node.epoch = event.epoch;
        self.node.lost = false;
        if may_lack {
            self.make_room(event)?;
        }
        match event.action {
            Action::Enqueue | Action::Reserve | Action::PublishCancelNotice => self.queue(event, may_lack)?,
            Action::CleanTerminalCoordination => {
                self.step(Move::CleanTerminalCoordination(JOB))?;
                self.node.reservation = None;
            }
            Action::ClaimRefused | Action::ReleaseReservation | Action::FalseSuspicion => {
                self.end_reservation(event, effort)?;
            }
            _ => self.lease(event, effort)?,
        }
        self.node.segments[COORDINATION] = fact.segment;
        Ok(())
    }

    /// What must have happened before, and went with who was answered: a permit given or dropped, a lease that began or
    /// ended.
    fn make_room(&mut self, event: &Event) -> Result<(), Why> {
        match event.action {
            Action::Enqueue => {
                let rows = 1..=self.trace.rows;
                let live = rows.map(|token| Attempt { job: JOB, token }).find(|of| self.lease_is_live(*of));
                live.map_or(Ok(()), |of| self.expire_unrecorded(of))?;
                if self.node.state[JOB].reservation.is_some() { self.suspect() } else { Ok(()) }
            }
            Action::ReapObserve => {
                let of = self.attempt(event.action, self.trace.token(event))?;
                if self.lease_is_live(of) {
                    self.expire_unrecorded(of)?;
                }
                let row = &self.node.state[JOB];
                let held = row.reservation.is_some() && row.reservation == self.node.state[of].attempt_worker;
                if held { self.suspect() } else { Ok(()) }
            }
            Action::ExpireLease | Action::RenewLease | Action::ReleaseLease => {
                let of = self.attempt(event.action, self.trace.token(event))?;
                self.activate_unrecorded(of)
            }
            Action::FalseSuspicion | Action::ReleaseReservation | Action::ClaimRefused
                if event.detail.reservation != self.node.reservation =>
            {
                if self.node.reservation.is_some() {
                    self.suspect()?;
                }
                self.reserve_unrecorded(self.trace.worker(event).unwrap_or(self.trace.nobody()))?;
                self.node.reservation = event.detail.reservation;
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn expire_unrecorded(&mut self, of: Attempt) -> Result<(), Why> {
        self.age(of)?;
        self.infer(Move::ExpireLease(of))
    }

    fn queue(&mut self, event: &Event, may_lack: bool) -> Result<(), Why> {
        match event.action {
            Action::Enqueue => self.enqueue(event),
            Action::Reserve => {
                let worker = self.trace.worker(event).unwrap_or(self.trace.nobody());
                let worker = self.up(worker)?;
                if may_lack && !self.node.state[JOB].queued {
                    self.infer(Move::DispatchRead(JOB))?;
                    self.infer(Move::Enqueue(JOB))?;
                }
                self.step(Move::Reserve(JOB, worker))?;
                self.node.reservation = event.detail.reservation;
                Ok(())
            }
            _ => self.step(Move::PublishCancelNotice(JOB)),
        }
    }

    /// `DispatchRead` is placed at the revision that was read, when the job must have been dispatchable. Many may be
    /// under way at once; the spec's flag stands for the one at hand.
    fn enqueue(&mut self, event: &Event) -> Result<(), Why> {
        let read = read_at(event);
        let phase = read.map_or(Some(self.node.state[JOB].phase), |read| self.trace.phase_at(read));
        if phase.is_some_and(|phase| phase != Phase::Queued) {
            return Err(Why::Guard(event.action, Guard::DispatchSeen));
        }
        self.node.state[JOB].dispatch_seen = true;
        self.node.inferred += 1;
        self.step(Move::Enqueue(JOB))
    }

    fn end_reservation(&mut self, event: &Event, effort: Effort) -> Result<(), Why> {
        if event.detail.reservation != self.node.reservation {
            return Err(Why::Guard(event.action, Guard::ReservationHeld));
        }
        match event.action {
            Action::FalseSuspicion => self.step(Move::FalseSuspicion(JOB))?,
            Action::ReleaseReservation => {
                if effort >= Effort::Gaps
                    && let Some(holder) = self.node.state[JOB].reservation
                {
                    self.infer(Move::CrashWorker(holder))?;
                }
                self.step(Move::ReleaseReservation(JOB))?;
            }
            _ => self.hand_back(event)?,
        }
        self.node.reservation = None;
        Ok(())
    }

    /// A worker also hands back what it will not claim: it drains, or the checkpoint changes again and again. To the
    /// spec that permit was dropped.
    fn hand_back(&mut self, event: &Event) -> Result<(), Why> {
        let worker = self.trace.worker(event).unwrap_or(self.trace.nobody());
        let worker = self.up(worker)?;
        let step = Move::ClaimRefused(JOB, worker);
        match step.spec_guard(&self.law(), &self.node.state) {
            Err(Guard::ClaimImpossible) => self.suspect(),
            _ => self.step(step),
        }
    }

    /// The attempt of an event about a lease, whose holder must be the incarnation that the event names.
    fn holder(&mut self, event: &Event, otherwise: Guard) -> Result<Attempt, Why> {
        let of = self.attempt(event.action, self.trace.token(event))?;
        let named = self.trace.worker(event);
        let holder = self.node.state[of].attempt_worker.map(|worker| worker.0);
        if named.is_some() && named != holder {
            return Err(Why::Guard(event.action, otherwise));
        }
        Ok(of)
    }

    fn lease(&mut self, event: &Event, effort: Effort) -> Result<(), Why> {
        match event.action {
            Action::ActivateAttempt => {
                if event.detail.reservation != self.node.reservation {
                    return Err(Why::Guard(event.action, Guard::ReservationHeld));
                }
                let of = self.holder(event, Guard::ReservationHeld)?;
                self.step(Move::ActivateAttempt(of))?;
                self.node.reservation = None;
                self.leased(of);
                Ok(())
            }
            Action::RenewLease => {
                let of = self.holder(event, Guard::LeaseLive)?;
                self.age(of)?;
                self.step(Move::RenewLease(of))
            }
            Action::ExpireLease => {
                let of = self.holder(event, Guard::LeaseLive)?;
                if self.was_early(of) {
                    return Ok(());
                }
                self.age(of)?;
                self.step(Move::ExpireLease(of))
            }
            Action::ReleaseLease => self.release(event, effort),
            Action::ReportProgress => {
                let of = self.holder(event, Guard::LeaseLive)?;
                unless(self.step(Move::ReportProgress(of)), &[Guard::ProgressChanged])
            }
            Action::ReapObserve => {
                let of = self.holder(event, Guard::Authority)?;
                // Seen before, or of an attempt that has no authority any more: a look that nobody acts on.
                unless(self.step(Move::ReapObserve(of)), &[Guard::NotLostSeen, Guard::Authority])
            }
            Action::RestoreLease => self.restore(event),
            _ => Err(Why::Order("it is no action of the coordination store")),
        }
    }

    fn leased(&mut self, of: Attempt) {
        self.node.leased_in[usize::from(of.token) - 1] = self.node.epoch;
    }

    fn release(&mut self, event: &Event, effort: Effort) -> Result<(), Why> {
        let of = self.holder(event, Guard::LeaseLive)?;
        if self.was_early(of) {
            return Ok(());
        }
        let by_holder = self.trace.is_worker(event.actor, self.node.state[of].attempt_worker);
        if effort >= Effort::Gaps && by_holder && self.is(of, AttemptState::Executing) {
            // The worker gives the attempt up, and its record ends before it says so.
            self.expire_early(of)?;
            self.infer(Move::CooperativeStop(of))?;
            self.was_early(of);
            return Ok(());
        }
        self.step(Move::ReleaseLease(of))
    }

    /// Only what had its lease in an older epoch gets it back.
    fn restore(&mut self, event: &Event) -> Result<(), Why> {
        let of = self.holder(event, Guard::LeaseLive)?;
        let row = &self.node.state[of];
        let leased_in = self.node.leased_in[usize::from(of.token) - 1];
        if row.lease_state == LeaseState::Expired && leased_in >= event.epoch {
            return Err(Why::Guard(event.action, Guard::LeaseEndedByAge));
        }
        if self.is(of, AttemptState::Stopped) && !self.lease_is_live(of) && self.ended_unheard(event) {
            self.lease_unheard(of)?;
        } else {
            self.step(Move::RestoreLease(of))?;
        }
        self.leased(of);
        Ok(())
    }

    /// Whether the worker's own outcome ended the attempt and it had not heard so when it asked for the lease: the spec knows
    /// an end at once, a worker with the answer. Such a lease is one more that `ReleaseLease` ends.
    fn ended_unheard(&self, event: &Event) -> bool {
        let placed = &self.trace.lists[DURABLE][..self.node.at[DURABLE]];
        let ended = |end: &Event| {
            matches!(end.action, Action::AcceptSuccess | Action::AcceptFailure | Action::FinalizeCancel)
                && raises(end)
                && (end.attempt, end.actor) == (event.attempt, event.actor)
        };
        placed.iter().any(|fact| ended(&fact.event) && fact.event.sequence > event.sent_after)
    }

    /// The claim and the activation of an attempt whose lease is restored later, gone with the store's process.
    fn lease_unrecorded(&mut self, event: &Event) -> Result<(), Why> {
        let of = self.attempt(event.action, self.trace.token(event))?;
        if self.is(of, AttemptState::Unused) && self.node.state.next_attempt(JOB) == of {
            self.claim_unrecorded(self.trace.worker(event).unwrap_or(self.trace.nobody()))?;
            self.node.revision += 1;
        }
        self.activate_unrecorded(of)
    }
}

/// A step that changes nothing when one of these guards is false.
fn unless(step: Result<(), Why>, idle: &[Guard]) -> Result<(), Why> {
    match step {
        Err(Why::Guard(_, guard)) if idle.contains(&guard) => Ok(()),
        other => other,
    }
}
