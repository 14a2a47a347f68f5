//! What the process that gets an answer records of it (protocol §6).
//!
//! Promises: arguments and effect as the embedded room records them; the order is the one that the room took. A
//! process that is killed between step and answer leaves a gap, which the audit fills.

use protocol::{Action, ActorId, Detail, Event, Guard, Mark, Outcome, Room};

use crate::At;
pub(crate) use crate::note::Note;

/// What a row says of its step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Taken, and the places in use after it where that was asked.
    Taken { in_use: u32 },
    /// Refused by this guard.
    Refused(Guard),
}

impl Note<'_> {
    /// The event of a row, with the order that the room gave it.
    pub(crate) fn event(&self, at: &At, (order, verdict): (u64, Verdict), answered: &Head) -> Event {
        let (outcome, in_use) = match verdict {
            Verdict::Taken { in_use } => (Outcome::Taken, Some(in_use)),
            Verdict::Refused(guard) => (Outcome::Refused(guard), None),
        };
        Event {
            room: Room::Coordination,
            epoch: answered.epoch,
            order,
            action: self.action,
            outcome,
            job: Some(self.job),
            token: self.token,
            attempt: self.attempt,
            actor: at.origin.actor,
            sequence: at.origin.sequence,
            sent_after: at.origin.sent_after,
            answered_before: None,
            detail: Detail {
                worker: self.worker,
                reservation: self.reservation,
                checkpoint_revision: self.checkpoint_revision,
                limit: in_use.map(|_| answered.limit),
                in_use,
                lease_ms: in_use.map(|_| answered.lease_ms),
                ..Detail::default()
            },
            judged: self.judged.to_vec(),
        }
    }
}

/// The pool at the moment of an answer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Head {
    pub(crate) epoch: u64,
    pub(crate) limit: u32,
    pub(crate) lease_ms: u64,
}

impl Head {
    pub(crate) fn mark(&self, order: u64) -> Mark {
        Mark { epoch: self.epoch, order }
    }
}

/// `LoseCoordinationState`, on purpose, of a pool that was there until this mark.
pub(crate) fn loss(was: Mark) -> Event {
    Event {
        room: Room::Coordination,
        epoch: was.epoch,
        order: was.order + 1,
        action: Action::LoseCoordinationState,
        outcome: Outcome::Taken,
        job: None,
        token: None,
        attempt: None,
        actor: ActorId(0),
        sequence: was.epoch,
        sent_after: 0,
        answered_before: None,
        detail: Detail::default(),
        judged: Vec::new(),
    }
}
