//! What was decided about one row of a batch, and what the trace says of it. The process that gets the answer records
//! it (protocol §6), so a killed one leaves gaps.

use protocol::{
    Action, AttemptId, Detail, Event, Guard, JobId, Judged, Origin, Outcome, Room, Stamped, Token,
};

use super::trouble::Trouble;
pub(super) use crate::decided::{Decided, Seen, mark};

/// Whose request it is, whether anybody listens to events, and whether it was asked before and nobody saw its answer.
#[derive(Debug, Clone, Copy)]
pub(super) struct Asker<'a> {
    pub(super) origin: &'a Origin,
    pub(super) recording: bool,
    pub(super) is_repeat: bool,
}

/// A decision, or the reason that there is none.
pub(super) type Decision<T> = Result<Decided<T>, Trouble>;

/// One action on one job, on its way into the trace.
pub(super) struct Entry<'a> {
    pub(super) asker: Asker<'a>,
    pub(super) action: Action,
    pub(super) job: JobId,
    pub(super) attempt: Option<AttemptId>,
    pub(super) token: Option<Token>,
    pub(super) judged: &'a [Judged],
    pub(super) detail: Detail,
}

impl Entry<'_> {
    /// It happened, at this revision.
    pub(super) fn taken<T>(self, revision: u64, effect: T) -> Decision<T> {
        let events = self.events(revision, Outcome::Taken);
        Ok(Decided { answer: Stamped::taken(mark(revision), effect), events })
    }

    /// It has happened before, at this revision, and only this asker can have done it: the trace has it from the answer
    /// given then, unless nobody saw that.
    pub(super) fn again<T>(self, revision: u64, effect: T) -> Decision<T> {
        if self.asker.is_repeat {
            return self.taken(revision, effect);
        }
        Decided::silent(Stamped::taken(mark(revision), effect))
    }

    /// It was refused; the job was seen at this revision in this phase.
    pub(super) fn refused<T>(mut self, seen: Option<Seen>, guard: Guard) -> Decision<T> {
        let revision = seen.map_or(0, |seen| seen.revision);
        self.detail.phase_after = seen.map(|seen| seen.phase);
        self.detail.max_attempts = seen.map(|seen| seen.max_attempts);
        let events = self.events(revision, Outcome::Refused(guard));
        Ok(Decided { answer: Stamped::refused(mark(revision), guard), events })
    }

    fn events(self, order: u64, outcome: Outcome) -> Vec<Event> {
        if !self.asker.recording {
            return Vec::new();
        }
        vec![Event {
            room: Room::Durable,
            epoch: 0,
            order,
            action: self.action,
            outcome,
            job: Some(self.job),
            token: self.token,
            attempt: self.attempt,
            actor: self.asker.origin.actor,
            sequence: self.asker.origin.sequence,
            sent_after: self.asker.origin.sent_after,
            answered_before: None,
            detail: self.detail,
            judged: self.judged.to_vec(),
        }]
    }
}
