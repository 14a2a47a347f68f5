//! A turn at the pool: one request, under the lock, at one moment of the room's clock.
//!
//! Promises: every answer carries the pool's revision; a step that is taken or refused raises it and is
//! recorded, before the lock is given back; a repeat changes and records nothing. Does not decide: actions
//! do. Protocol §6 says what an event carries.

use std::collections::BTreeSet;
use std::time::Duration;

use protocol::{Detail, Event, EventSink, Guard, JobId, Mark, Outcome, Room, Stamped, Step};

use super::pool::Pool;
pub(super) use crate::note::Note;
use crate::{At, Wake};

/// What an action found, when its guards hold.
pub(super) enum Done<T> {
    /// It happened now.
    Now(T),
    /// It had happened at an earlier sending of the request, or is merged into a recorded one.
    Before(T),
}

/// The answer of an action's guards and effect.
pub(super) type Decision<T> = Result<Done<T>, Guard>;

/// One request's stay at the pool.
pub(super) struct Turn<'a> {
    pub(super) pool: &'a mut Pool,
    pub(super) now: Duration,
    pub(super) at: &'a At,
    pub(super) events: &'a dyn EventSink,
    pub(super) wakes: Vec<Wake>,
    /// Jobs whose reservation was given back: they may still be in the outbox, so the dispatcher is told.
    pub(super) returned: BTreeSet<JobId>,
}

impl Turn<'_> {
    /// The request's epoch is the store's, and the store is not empty.
    pub(super) fn current(&self) -> Result<(), Guard> {
        let epoch = self.pool.epoch.number;
        if epoch == 0 || epoch != self.at.epoch { Err(Guard::Stale) } else { Ok(()) }
    }

    /// Wakes once, however often it is said in one turn.
    pub(super) fn wake(&mut self, wake: Wake) {
        if self.wakes.last() != Some(&wake) && !self.wakes.contains(&wake) {
            self.wakes.push(wake);
        }
    }

    /// A reservation is free, and its job may have to be offered again.
    pub(super) fn give_back(&mut self, job: JobId) {
        self.returned.insert(job);
        self.wake(Wake::Freed);
    }

    /// Turns a decision into the answer, and records it.
    pub(super) fn answer<T>(&mut self, note: &Note<'_>, decision: Decision<T>) -> Stamped<T> {
        match decision {
            Ok(Done::Now(effect)) => {
                Stamped { mark: self.record(note, Outcome::Taken), step: Step::Taken(effect) }
            }
            Ok(Done::Before(effect)) => Stamped { mark: self.pool.mark(), step: Step::Taken(effect) },
            Err(guard) => {
                Stamped { mark: self.record(note, Outcome::Refused(guard)), step: Step::Refused(guard) }
            }
        }
    }

    /// A refusal that nobody learns from, such as that of a worker that looks for work in vain.
    pub(super) fn refuse_quietly<T>(&self, guard: Guard) -> Stamped<T> {
        Stamped::refused(self.pool.mark(), guard)
    }

    /// A step of pool-wide state: no action of the spec, so nothing is recorded.
    pub(super) fn answer_unrecorded<T>(&mut self, decision: Decision<T>) -> Stamped<T> {
        match decision {
            Ok(Done::Now(effect)) => {
                self.pool.order += 1;
                Stamped::taken(self.pool.mark(), effect)
            }
            Ok(Done::Before(effect)) => Stamped::taken(self.pool.mark(), effect),
            Err(guard) => self.refuse_quietly(guard),
        }
    }

    fn record(&mut self, note: &Note<'_>, outcome: Outcome) -> Mark {
        self.pool.order += 1;
        let mark = self.pool.mark();
        if !self.events.is_on() {
            return mark;
        }
        let taken = outcome == Outcome::Taken;
        self.events.record(Event {
            room: Room::Coordination,
            epoch: mark.epoch,
            order: mark.order,
            action: note.action,
            outcome,
            job: Some(note.job),
            token: note.token,
            attempt: note.attempt,
            actor: self.at.origin.actor,
            sequence: self.at.origin.sequence,
            sent_after: self.at.origin.sent_after,
            answered_before: None,
            detail: Detail {
                worker: note.worker,
                reservation: note.reservation,
                checkpoint_revision: note.checkpoint_revision,
                limit: taken.then_some(self.pool.config.global_limit),
                in_use: taken.then(|| u32::try_from(self.pool.in_use()).unwrap_or(u32::MAX)),
                lease_ms: taken.then_some(self.pool.config.lease_ms),
                ..Detail::default()
            },
            judged: note.judged.to_vec(),
        });
        mark
    }
}
