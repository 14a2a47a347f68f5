//! The room in lists, for walks: what each action must answer and leave behind, written to be read.
//!
//! Promises: no index, no cleverness, no cost counted. It knows one kind, no window bound and no silence of
//! workers; walks keep inside that.

use protocol::Guard;

use super::pool::{LEASE, millis};

/// How a reservation ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    HandedBack,
    Released,
    Other,
}

#[derive(Debug, Clone, Copy)]
struct Place {
    id: u128,
    job: u128,
    worker: u128,
    deadline: u64,
}

/// The whole room.
#[derive(Debug, Default)]
pub(super) struct Model {
    pub(super) epoch: u64,
    pub(super) open: bool,
    pub(super) limit: usize,
    pub(super) paused: bool,
    now: u64,
    began: u64,
    /// (priority, position, job); priority 1 is the queue that may be paused.
    queue: Vec<(u8, u64, u128)>,
    reservations: Vec<Place>,
    ended: Vec<(u128, u128, u128, Ending)>,
    leases: Vec<Place>,
    unaccounted: Vec<u128>,
    /// Attempts that ended in this epoch's grace, and whether by age.
    gone: Vec<(u128, bool)>,
    notices: Vec<u128>,
    shown: Vec<(u128, u128, Option<u64>)>,
}

type Verdict<T = ()> = Result<T, Guard>;

fn need(holds: bool, guard: Guard) -> Verdict {
    if holds { Ok(()) } else { Err(guard) }
}

impl Model {
    pub(super) fn in_use(&self) -> usize {
        self.reservations.len() + self.leases.len() + self.unaccounted.len()
    }

    pub(super) fn counts(&self) -> [usize; 4] {
        [self.queue.len(), self.reservations.len(), self.leases.len(), self.unaccounted.len()]
    }

    pub(super) fn grace_over(&self) -> bool {
        self.epoch > 0 && self.now - self.began >= millis(LEASE)
    }

    pub(super) fn install(&mut self, epoch: u64) {
        *self = Self { epoch, began: self.now, now: self.now, ..Self::default() };
    }

    pub(super) fn pass(&mut self, ms: u64) {
        self.now += ms;
        if self.grace_over() {
            self.unaccounted.clear();
            self.gone.clear();
        }
    }

    fn current(&self) -> Verdict {
        need(self.epoch > 0, Guard::Stale)
    }

    fn deadline(&self) -> u64 {
        self.now + millis(LEASE)
    }

    fn held(&self, id: u128, job: u128, worker: u128) -> bool {
        self.reservations.iter().any(|held| (held.id, held.job, held.worker) == (id, job, worker))
    }

    fn leased(&self, attempt: u128, job: u128, worker: u128) -> bool {
        self.leases.iter().any(|held| (held.id, held.job, held.worker) == (attempt, job, worker))
    }

    fn any_lease(&self, attempt: u128) -> bool {
        self.leases.iter().any(|held| held.id == attempt)
    }

    fn end_reservation(&mut self, id: u128, ending: Ending) {
        if let Some(at) = self.reservations.iter().position(|held| held.id == id) {
            let held = self.reservations.remove(at);
            self.ended.push((id, held.job, held.worker, ending));
        }
    }

    fn end_lease(&mut self, attempt: u128, by_age: bool) {
        self.leases.retain(|held| held.id != attempt);
        self.shown.retain(|(_, by, _)| *by != attempt);
        self.mark_gone(attempt, by_age);
    }

    fn mark_gone(&mut self, attempt: u128, by_age: bool) {
        self.unaccounted.retain(|held| *held != attempt);
        if !self.grace_over() && !self.gone.iter().any(|(known, _)| *known == attempt) {
            self.gone.push((attempt, by_age));
        }
    }

    fn add_lease(&mut self, attempt: u128, job: u128, worker: u128) {
        self.unaccounted.retain(|held| *held != attempt);
        self.leases.push(Place { id: attempt, job, worker, deadline: self.deadline() });
        self.shown.retain(|(known, ..)| *known != job);
        self.shown.push((job, attempt, None));
    }

    fn make_young(&mut self, attempt: u128) {
        let deadline = self.deadline();
        self.leases.iter_mut().filter(|held| held.id == attempt).for_each(|held| held.deadline = deadline);
    }

    pub(super) fn enqueue(&mut self, job: u128, priority: u8, position: u64) -> Verdict {
        self.current()?;
        need(!self.queue.iter().any(|(_, _, queued)| *queued == job), Guard::NotQueued)?;
        need(!self.reservations.iter().any(|held| held.job == job), Guard::NotReserved)?;
        need(!self.leases.iter().any(|held| held.job == job), Guard::LeaseNotLive)?;
        self.queue.push((priority, position, job));
        Ok(())
    }

    pub(super) fn reserve(&mut self, worker: u128, id: u128) -> Verdict<u128> {
        self.current()?;
        need(self.open, Guard::Opening)?;
        let deadline = self.deadline();
        if let Some(held) = self.reservations.iter_mut().find(|held| held.id == id) {
            need(held.worker == worker, Guard::ReservationHeld)?;
            held.deadline = deadline;
            return Ok(held.job);
        }
        need(!self.ended.iter().any(|(ended, ..)| *ended == id), Guard::ReservationHeld)?;
        need(self.in_use() < self.limit, Guard::GlobalLimit)?;
        let first =
            self.queue.iter().filter(|(priority, ..)| !(self.paused && *priority == 1)).min().copied();
        let Some(first) = first else {
            return Err(if self.queue.is_empty() { Guard::Queued } else { Guard::QueuePaused });
        };
        self.queue.retain(|entry| *entry != first);
        self.reservations.push(Place { id, job: first.2, worker, deadline });
        Ok(first.2)
    }

    pub(super) fn hand_back(&mut self, job: u128, id: u128, worker: u128) -> Verdict {
        self.current()?;
        if self.ended.contains(&(id, job, worker, Ending::HandedBack)) {
            return Ok(());
        }
        need(self.held(id, job, worker), Guard::ReservationHeld)?;
        self.end_reservation(id, Ending::HandedBack);
        Ok(())
    }

    pub(super) fn release_reservation(&mut self, job: u128, id: u128) -> Verdict {
        self.current()?;
        if self.ended.iter().any(|(ended, of, _, how)| (*ended, *of, *how) == (id, job, Ending::Released)) {
            return Ok(());
        }
        need(self.reservations.iter().any(|held| held.id == id && held.job == job), Guard::ReservationHeld)?;
        self.end_reservation(id, Ending::Released);
        Ok(())
    }

    pub(super) fn activate(&mut self, job: u128, attempt: u128, id: u128, worker: u128) -> Verdict {
        self.current()?;
        if self.leased(attempt, job, worker) {
            self.make_young(attempt);
            return Ok(());
        }
        need(self.held(id, job, worker) && !self.any_lease(attempt), Guard::ReservationHeld)?;
        self.end_reservation(id, Ending::Other);
        self.add_lease(attempt, job, worker);
        Ok(())
    }

    pub(super) fn renew(&mut self, job: u128, attempt: u128, worker: u128) -> Verdict {
        self.current()?;
        need(self.leased(attempt, job, worker), Guard::LeaseLive)?;
        self.make_young(attempt);
        Ok(())
    }

    pub(super) fn expire(&mut self) -> Verdict<Vec<u128>> {
        self.current()?;
        let ended = overdue(&self.leases, self.now);
        ended.iter().for_each(|attempt| self.end_lease(*attempt, true));
        Ok(ended)
    }

    pub(super) fn drop_overdue(&mut self) -> Verdict<Vec<u128>> {
        self.current()?;
        let ended = overdue(&self.reservations, self.now);
        ended.iter().for_each(|id| self.end_reservation(*id, Ending::Other));
        Ok(ended)
    }

    pub(super) fn release(&mut self, job: u128, attempt: u128) -> Verdict {
        self.current()?;
        need(self.leases.iter().any(|held| held.id == attempt && held.job == job), Guard::LeaseLive)?;
        self.end_lease(attempt, false);
        Ok(())
    }

    pub(super) fn notice(&mut self, job: u128) -> Verdict {
        self.current()?;
        need(!self.notices.contains(&job), Guard::NotNoticed)?;
        self.notices.push(job);
        Ok(())
    }

    pub(super) fn clean(&mut self, job: u128) -> Verdict {
        self.current()?;
        let before = (self.queue.len(), self.notices.len(), self.shown.len(), self.reservations.len());
        self.queue.retain(|(_, _, queued)| *queued != job);
        self.notices.retain(|noticed| *noticed != job);
        self.shown.retain(|(of, ..)| *of != job);
        let reserved = self.reservations.iter().find(|held| held.job == job).map(|held| held.id);
        if let Some(id) = reserved {
            self.end_reservation(id, Ending::Other);
        }
        let after = (self.queue.len(), self.notices.len(), self.shown.len(), self.reservations.len());
        need(before != after, Guard::SomethingToClean)
    }

    pub(super) fn report(&mut self, job: u128, attempt: u128, worker: u128, done: u64) -> Verdict {
        self.current()?;
        need(self.leased(attempt, job, worker), Guard::LeaseLive)?;
        let shown = (job, attempt, Some(done));
        need(!self.shown.contains(&shown), Guard::ProgressChanged)?;
        self.shown.retain(|(of, ..)| *of != job);
        self.shown.push(shown);
        Ok(())
    }

    pub(super) fn restore(&mut self, job: u128, attempt: u128, worker: u128) -> Verdict {
        self.current()?;
        if self.any_lease(attempt) {
            need(self.leased(attempt, job, worker), Guard::LeaseLive)?;
            self.make_young(attempt);
            return Ok(());
        }
        need(!self.grace_over(), Guard::GraceOver)?;
        match self.gone.iter().find(|(gone, _)| *gone == attempt) {
            Some((_, true)) => return Err(Guard::LeaseEndedByAge),
            Some((_, false)) => return Err(Guard::Authority),
            None => {}
        }
        need(self.unaccounted.contains(&attempt) || self.in_use() < self.limit, Guard::GlobalLimit)?;
        self.add_lease(attempt, job, worker);
        Ok(())
    }

    pub(super) fn observe(&self, job: u128, attempt: u128, worker: u128, claimed_epoch: u64) -> Verdict {
        self.current()?;
        need(self.open, Guard::Opening)?;
        need(claimed_epoch == self.epoch || self.grace_over(), Guard::Grace)?;
        need(!self.any_lease(attempt), Guard::LeaseNotLive)?;
        let reserved = self.reservations.iter().any(|held| held.job == job && held.worker == worker);
        need(!reserved, Guard::ReservationNotHeld)
    }

    pub(super) fn settle(&mut self, attempt: u128) -> Verdict {
        self.current()?;
        self.mark_gone(attempt, false);
        Ok(())
    }

    pub(super) fn account(&mut self, attempt: u128) -> Verdict {
        self.current()?;
        need(!self.open, Guard::Opening)?;
        let gone = self.gone.iter().any(|(gone, _)| *gone == attempt);
        let counted = self.unaccounted.contains(&attempt) || self.any_lease(attempt);
        if !gone && !counted && !self.grace_over() {
            self.unaccounted.push(attempt);
        }
        Ok(())
    }
}

fn overdue(places: &[Place], now: u64) -> Vec<u128> {
    let mut ended: Vec<_> = places.iter().filter(|held| held.deadline <= now).collect();
    ended.sort_by_key(|held| (held.deadline, held.id));
    ended.iter().map(|held| held.id).collect()
}
