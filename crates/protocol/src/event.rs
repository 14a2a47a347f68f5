//! What a room or an actor records of each action it took or refused (protocol §6). The audit lives on it.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::action::{Action, Room};
use crate::guard::Guard;
use crate::id::{ActorId, AttemptId, Incarnation, JobId, ReservationId, Token};
use crate::origin::Judged;
use crate::phase::{FailureCause, Phase};

/// What came of an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It happened.
    Taken,
    /// This guard was false.
    Refused(Guard),
}

/// An action's arguments and effect; each action fills what it has.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Detail {
    /// The worker that reserved, claimed or held.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub worker: Option<Incarnation>,
    /// The permit named.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reservation: Option<ReservationId>,
    /// The spec's progress: sealed checkpoints, those inherited counted.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub progress: Option<u64>,
    /// The revision of the checkpoint read, written or judged.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub checkpoint_revision: Option<u64>,
    /// The job's phase after the action.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub phase_after: Option<Phase>,
    /// The job's retry budget at that moment.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub max_attempts: Option<u32>,
    /// Why an attempt failed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cause: Option<FailureCause>,
    /// The pool's global limit when a place was taken.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub limit: Option<u32>,
    /// Places in use after the action: reservations, live leases and attempts unaccounted for.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub in_use: Option<u32>,
    /// The lease length in force, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub lease_ms: Option<u64>,
}

/// One action, as recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// Where it happened.
    pub room: Room,
    /// The pool's epoch; 0 outside coordination.
    pub epoch: u64,
    /// Durable: the job's revision. Coordination: the pool's. Worker and target: the actor's own sequence.
    pub order: u64,
    /// Which action.
    pub action: Action,
    /// What came of it.
    pub outcome: Outcome,
    /// The job, where there is one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub job: Option<JobId>,
    /// Its attempt's token.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub token: Option<Token>,
    /// Its attempt.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub attempt: Option<AttemptId>,
    /// Who acted.
    pub actor: ActorId,
    /// The actor's number of this request.
    pub sequence: u64,
    /// The actor had answers to all its requests up to this number when it sent this one.
    pub sent_after: u64,
    /// The actor's sequence when the answer came; absent where the room itself records. Of a store's event: the actor had
    /// been answered before, and this is what a late copy of the request did.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub answered_before: Option<u64>,
    /// Arguments and effect.
    pub detail: Detail,
    /// The reads it rests on.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub judged: Vec<Judged>,
}

/// Where events go. Recording never fails and never waits: a sink that cannot keep up drops and counts.
pub trait EventSink: Send + Sync {
    /// Takes one event.
    fn record(&self, event: Event);

    /// Whether anybody listens; rooms skip building events when not.
    fn is_on(&self) -> bool {
        true
    }
}

/// The sink that keeps nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoEvents;

impl NoEvents {
    /// It, ready to hand to a room.
    #[must_use]
    pub fn shared() -> Arc<dyn EventSink> {
        Arc::new(Self)
    }
}

impl EventSink for NoEvents {
    fn record(&self, _event: Event) {}

    fn is_on(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::origin::Mark;

    #[test]
    fn an_event_reads_back_from_one_line_of_json() {
        let event = Event {
            room: Room::Durable,
            epoch: 0,
            order: 3,
            action: Action::AuthorizeAttempt,
            outcome: Outcome::Refused(Guard::PhaseQueued),
            job: Some(JobId(1)),
            token: Some(Token(2)),
            attempt: Some(AttemptId(3)),
            actor: ActorId(4),
            sequence: 9,
            sent_after: 7,
            answered_before: None,
            detail: Detail { phase_after: Some(Phase::Running), ..Detail::default() },
            judged: vec![Judged::coordination(Mark { epoch: 1, order: 5 })],
        };
        let line = serde_json::to_string(&event).unwrap();
        assert!(!line.contains('\n') && !line.contains("null"), "{line}");
        assert_eq!(serde_json::from_str::<Event>(&line).unwrap(), event);
    }
}
