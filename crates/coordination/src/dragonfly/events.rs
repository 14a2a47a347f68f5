//! What the process that gets an answer records of it (protocol §6).
//!
//! Promises: arguments and effect as the embedded room records them; the order is the one that the script took. A
//! process that is killed between script and answer leaves a gap, which the audit fills.

use protocol::{
    Action, AttemptId, Detail, Event, Incarnation, JobId, Judged, Mark, Outcome, ReservationId, Room, Token,
};

use super::reply::{Answered, Row, Verdict};
use crate::At;

/// What a step says of itself.
pub(super) struct Note<'a> {
    pub(super) action: Action,
    pub(super) job: JobId,
    pub(super) attempt: Option<AttemptId>,
    pub(super) token: Option<Token>,
    pub(super) worker: Option<Incarnation>,
    pub(super) reservation: Option<ReservationId>,
    pub(super) checkpoint_revision: Option<u64>,
    pub(super) judged: &'a [Judged],
}

impl Note<'_> {
    pub(super) fn of(action: Action, job: JobId) -> Self {
        Self {
            action,
            job,
            attempt: None,
            token: None,
            worker: None,
            reservation: None,
            checkpoint_revision: None,
            judged: &[],
        }
    }

    /// The event of a row.
    pub(super) fn event(&self, at: &At, row: &Row, answered: &Head) -> Event {
        let (outcome, in_use) = match row.verdict {
            Verdict::Taken { in_use } => (Outcome::Taken, Some(in_use)),
            Verdict::Refused(guard) => (Outcome::Refused(guard), None),
        };
        Event {
            room: Room::Coordination,
            epoch: answered.epoch,
            order: row.order,
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
pub(super) struct Head {
    pub(super) epoch: u64,
    pub(super) limit: u32,
    pub(super) lease_ms: u64,
}

impl Head {
    pub(super) fn of(answered: &Answered) -> Self {
        Self { epoch: answered.epoch, limit: answered.limit, lease_ms: answered.lease_ms }
    }

    pub(super) fn mark(&self, row: &Row) -> Mark {
        Mark { epoch: self.epoch, order: row.order }
    }
}
