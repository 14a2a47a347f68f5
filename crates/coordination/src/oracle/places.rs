//! `Enqueue`, `Reserve`, `ClaimRefused`, `ReleaseReservation`, `FalseSuspicion`: from an entry to a place, and the
//! ways in which a place is given back.

use std::time::Duration;

use protocol::machine::Move;
use protocol::{Guard, Incarnation, JobId, Position, ReservationId, Window, limit};

use super::{Ending, Shelf, Verdict, need};
use crate::{DroppedReservation, Enqueue, Enqueued, HandBack, ReleaseReservation, Reserve, Reserved, Wake};

/// A job's entry.
pub(super) struct Entry {
    pub(super) window: Window,
    pub(super) position: Position,
    pub(super) checkpoint_revision: u64,
}

/// A job's reservation.
pub(super) struct Permit {
    pub(super) id: ReservationId,
    pub(super) worker: Incarnation,
    pub(super) entry: Entry,
    pub(super) deadline: Duration,
}

impl Shelf {
    /// What the limit leaves to reservations and leases: attempts unaccounted for take places, too.
    pub(super) fn places(&self) -> usize {
        let limit = usize::try_from(self.config.global_limit).unwrap_or(usize::MAX);
        limit.saturating_sub(self.unaccounted.len())
    }

    fn deadline(&self) -> Duration {
        self.now.saturating_add(self.lease())
    }

    pub(super) fn in_window(&self, window: &Window) -> usize {
        self.entries.values().filter(|entry| entry.window == *window).count()
    }

    pub(super) fn served(&self, window: &Window) -> bool {
        let serves = |worker: &crate::Registration| !worker.draining && worker.serves(window);
        self.workers.values().any(|(worker, _)| serves(worker))
    }

    pub(super) fn enqueue(&mut self, request: &Enqueue) -> Verdict<Enqueued> {
        let step = Move::Enqueue(self.law.job(request.job));
        let leased = self.leases.values().any(|lease| lease.job == request.job);
        let full = self.in_window(&request.window) >= limit::WINDOW_ENTRIES
            || self.entries.len() >= limit::POOL_ENTRIES;
        let beyond_the_law = [
            (!leased, Guard::LeaseNotLive),
            (self.served(&request.window), Guard::WindowRegistered),
            (!full, Guard::WindowFull),
        ];
        let places = self.places();
        self.law.guard(step, places)?;
        beyond_the_law.into_iter().try_for_each(|(holds, guard)| need(holds, guard))?;
        self.law.step(step, places)?;
        let (window, position) = (request.window.clone(), request.position);
        let entry = Entry { window, position, checkpoint_revision: request.checkpoint_revision };
        self.entries.insert(request.job, entry);
        self.wake(Wake::Queued(request.window.clone()));
        Ok(Enqueued { entries: self.in_window(&request.window) })
    }

    pub(super) fn reserve(&mut self, request: &Reserve, id: ReservationId) -> Verdict<Reserved> {
        need(self.open, Guard::Opening)?;
        let deadline = self.deadline();
        if let Some((job, permit)) = self.permits.iter_mut().find(|(_, permit)| permit.id == id) {
            need(permit.worker == request.worker, Guard::ReservationHeld)?;
            permit.deadline = deadline;
            return Ok(reserved(*job, permit, self.config.lease_ms));
        }
        need(!self.ended.contains_key(&id), Guard::ReservationHeld)?;
        need(self.law.places_in_use() < self.places(), Guard::GlobalLimit)?;
        let job = self.first(&request.windows)?;
        let step = Move::Reserve(self.law.job(job), self.law.worker(request.worker));
        self.law.step(step, self.places())?;
        let entry = self.entries.remove(&job).ok_or(Guard::Queued)?;
        let permit = Permit { id, worker: request.worker, entry, deadline };
        let answer = reserved(job, &permit, self.config.lease_ms);
        self.permits.insert(job, permit);
        Ok(answer)
    }

    /// The job with the lowest (priority, position) over the windows, those of paused queues left out.
    fn first(&self, windows: &[Window]) -> Verdict<JobId> {
        let named = &windows[..windows.len().min(limit::RESERVE_WINDOWS)];
        let offered: Vec<_> =
            self.entries.iter().filter(|(_, entry)| named.contains(&entry.window)).collect();
        let paused = |entry: &Entry| self.config.paused.contains(&entry.window.queue);
        let first = offered
            .iter()
            .filter(|(_, entry)| !paused(entry))
            .min_by_key(|(job, entry)| (entry.window.priority, entry.position, **job));
        let none = if offered.is_empty() { Guard::Queued } else { Guard::QueuePaused };
        first.map(|(job, _)| **job).ok_or(none)
    }

    /// The reservation, if it is this one, of this job (and this worker).
    pub(super) fn permit(
        &self,
        job: JobId,
        id: ReservationId,
        worker: Option<Incarnation>,
    ) -> Verdict<&Permit> {
        let exact = |permit: &&Permit| permit.id == id && worker.is_none_or(|worker| permit.worker == worker);
        self.permits.get(&job).filter(exact).ok_or(Guard::ReservationHeld)
    }

    /// The reservation is no more.
    pub(super) fn forget_permit(&mut self, job: JobId, ending: Ending) {
        if let Some(permit) = self.permits.remove(&job) {
            self.ended.insert(permit.id, (job, permit.worker, ending));
        }
    }

    fn give_back(&mut self, job: JobId, ending: Ending) {
        self.forget_permit(job, ending);
        self.wake(Wake::Freed);
        self.wake(Wake::Nudged(vec![job]));
    }

    pub(super) fn claim_refused(&mut self, request: &HandBack) -> Verdict<()> {
        let HandBack { job, reservation, worker } = *request;
        if self.ended.get(&reservation) == Some(&(job, worker, Ending::HandedBack)) {
            return Ok(());
        }
        self.permit(job, reservation, Some(worker))?;
        let step = Move::ClaimRefused(self.law.job(job), self.law.worker(worker));
        self.law.step(step, self.places())?;
        self.give_back(job, Ending::HandedBack);
        Ok(())
    }

    pub(super) fn renew_reservation(&mut self, request: &HandBack) -> Verdict<()> {
        self.permit(request.job, request.reservation, Some(request.worker))?;
        let deadline = self.deadline();
        self.permits.entry(request.job).and_modify(|permit| permit.deadline = deadline);
        Ok(())
    }

    pub(super) fn release_reservation(&mut self, request: &ReleaseReservation) -> Verdict<()> {
        let ReleaseReservation { job, reservation, .. } = *request;
        let ended = self.ended.get(&reservation);
        if ended.is_some_and(|(of, _, how)| (*of, *how) == (job, Ending::Released)) {
            return Ok(());
        }
        self.permit(job, reservation, None)?;
        let step = Move::ReleaseReservation(self.law.job(job));
        self.law.step(step, self.places())?;
        self.give_back(job, Ending::Released);
        Ok(())
    }

    /// The reservations past their deadline, the oldest first.
    pub(super) fn overdue_permits(&self, limit: usize) -> Vec<JobId> {
        let mut due: Vec<_> = self
            .permits
            .iter()
            .filter(|(_, permit)| permit.deadline <= self.now)
            .map(|(job, permit)| (permit.deadline, permit.id, *job))
            .collect();
        due.sort_unstable();
        due.into_iter().take(limit).map(|(_, _, job)| job).collect()
    }

    pub(super) fn drop_permit(&mut self, job: JobId) -> Verdict<DroppedReservation> {
        let permit = self.permits.get(&job).ok_or(Guard::ReservationHeld)?;
        let dropped = DroppedReservation { job, reservation: permit.id, worker: permit.worker };
        let step = Move::FalseSuspicion(self.law.job(job));
        self.law.step(step, self.places())?;
        self.give_back(job, Ending::Other);
        Ok(dropped)
    }
}

fn reserved(job: JobId, permit: &Permit, lease_ms: u64) -> Reserved {
    Reserved {
        reservation: permit.id,
        job,
        window: permit.entry.window.clone(),
        checkpoint_revision: permit.entry.checkpoint_revision,
        lease_ms,
    }
}
