//! `why` and `inspect`: what a job waits for, and what each room holds of it.

use protocol::{Incarnation, JobId, Phase};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Moment;

/// Why a job stands where it stands, in kinds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReasonCode {
    /// It has ended.
    Ended,
    /// An attempt runs.
    Running,
    /// It is not due yet.
    NotDue,
    /// Its queue is paused.
    QueuePaused,
    /// No live worker serves its queue and kind.
    NoWorker,
    /// All workers that serve it drain.
    WorkersDraining,
    /// All workers that serve it are full.
    WorkersBusy,
    /// The pool's global limit is reached.
    GlobalLimit,
    /// Others stand before it in the order of its queue.
    BehindOthers,
    /// Coordination gives no answer.
    CoordinationAway,
    /// Coordination is being rebuilt.
    Rebuilding,
    /// A worker holds a reservation for it and is about to claim it.
    Reserved,
    /// It is offered, and workers with free places serve it: one takes it in a moment.
    Offered,
    /// It waits to be offered; an agent does so in a moment.
    NotOffered,
    /// No server runs that would offer it.
    NoAgents,
    /// Its row was set aside.
    SetAside,
    /// A cancel waits for the attempt to stop.
    Stopping,
    /// An attempt lost its lease and waits to be reaped.
    Lost,
}

/// Who stands in the way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Holder {
    /// The job that holds a place.
    #[schema(value_type = Option<String>)]
    pub job: Option<JobId>,
    /// Its attempt's token.
    pub attempt: Option<u32>,
    /// The worker.
    #[schema(value_type = Option<String>)]
    pub worker: Option<Incarnation>,
    /// The worker's name.
    pub worker_name: Option<String>,
}

/// One reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Because {
    /// Its kind.
    pub code: ReasonCode,
    /// The same in a sentence, with names and numbers.
    pub text: String,
    /// Who holds what it waits for; at most ten.
    pub holders: Vec<Holder>,
    /// Until when at most, where that is known.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub until: Option<Moment>,
}

/// How an attempt ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AttemptStory {
    /// Its token.
    pub attempt: u32,
    /// As in the ledger.
    pub verdict: String,
    /// What happened, in a sentence: who ran it, who fenced it, what it left.
    pub text: String,
    /// The attempt that was given authority after it, and so fenced it.
    pub fenced_by: Option<u32>,
}

/// What will happen next.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Expected {
    /// In a sentence.
    pub text: String,
    /// When, where that is known.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub at: Option<Moment>,
}

/// The answer to `why`. Read from the rooms at that moment, never guessed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Why {
    /// The job.
    #[schema(value_type = String)]
    pub job: JobId,
    /// Where it stands.
    #[schema(value_type = super::PhaseName)]
    pub phase: Phase,
    /// The answer in one sentence.
    pub summary: String,
    /// The reasons, the deciding one first.
    pub because: Vec<Because>,
    /// How each attempt ended, first to last.
    pub attempts: Vec<AttemptStory>,
    /// What comes next, in order.
    pub next: Vec<Expected>,
    /// Rooms that gave no answer: what they hold is not in here.
    pub away: Vec<String>,
}

/// One invariant of the spec, evaluated on what the rooms hold of the job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Check {
    /// Its name in the spec.
    pub name: String,
    /// Whether it holds; absent where a room gave no answer.
    pub holds: Option<bool>,
    /// What it says of this job, in a sentence.
    pub text: String,
}

/// The three rooms side by side.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Inspection {
    /// The job.
    #[schema(value_type = String)]
    pub job: JobId,
    /// What the durable room holds of it.
    #[schema(value_type = serde_json::Value)]
    pub durable: serde_json::Value,
    /// What coordination holds of it; absent while it is away.
    #[schema(value_type = Option<serde_json::Value>)]
    pub coordination: Option<serde_json::Value>,
    /// What lies on the target; absent while it is away.
    #[schema(value_type = Option<serde_json::Value>)]
    pub target: Option<serde_json::Value>,
    /// The spec's invariants on these.
    pub checks: Vec<Check>,
}
