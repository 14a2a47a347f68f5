//! Jobs as they are shown.

use protocol::{AttemptId, Incarnation, JobId, Phase, UserProgress};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;

use super::{Moment, ResultSummary};

/// The phases by name, as documents have them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum PhaseName {
    /// It waits to be started.
    Queued,
    /// An attempt has authority.
    Running,
    /// It waits for its next attempt.
    RetryWait,
    /// A cancel waits for its attempt to stop.
    Cancelling,
    /// Its result is published.
    Succeeded,
    /// Its attempts are used up.
    Failed,
    /// Nothing of it will be published.
    Cancelled,
}

/// Which jobs. All that is named must hold.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct JobQuery {
    /// One of these phases; empty for all.
    pub phase: Vec<Phase>,
    /// This kind.
    pub kind: Option<String>,
    /// This queue.
    pub queue: Option<String>,
    /// Running under this worker now: its name or its incarnation.
    pub worker: Option<String>,
    /// Accepted at or after this moment.
    pub created_from: Option<Moment>,
    /// Accepted before this moment.
    pub created_until: Option<Moment>,
    /// This text in the job's id, kind, command or last error. At least 3 letters.
    pub text: Option<String>,
    /// Where the page before ended.
    pub cursor: Option<String>,
    /// At most so many: 1 to 1,000; 50 unless said.
    pub limit: Option<u32>,
}

/// A part of a list.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Page<T> {
    /// The part.
    pub items: Vec<T>,
    /// Where the next one begins; absent at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// What a job says of its progress.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Progress {
    /// Steps done.
    pub done: u64,
    /// Steps in all, where known.
    pub total: Option<u64>,
    /// A message.
    pub message: Option<String>,
}

impl From<UserProgress> for Progress {
    fn from(progress: UserProgress) -> Self {
        Self { done: progress.done, total: progress.total, message: progress.message }
    }
}

/// A job in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Job {
    /// The job.
    #[schema(value_type = String)]
    pub job: JobId,
    /// Where it stands.
    #[schema(value_type = PhaseName)]
    pub phase: Phase,
    /// Its kind.
    pub kind: String,
    /// Its queue.
    pub queue: String,
    /// From 1 (first) to 4.
    pub priority: u8,
    /// Its last attempt's token; 0 for none yet.
    pub attempt: u32,
    /// Its retry budget now.
    pub max_attempts: u32,
    /// When it was accepted.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Moment,
    /// When it is or was due.
    #[schema(value_type = String, format = DateTime)]
    pub due_at: Moment,
    /// When it ended.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub finished_at: Option<Moment>,
    /// Progress: live where it runs, else its last checkpoint's.
    pub progress: Option<Progress>,
    /// The last error's first line.
    pub error: Option<String>,
    /// The program's words, cut short, where it is one.
    pub command: Option<Vec<String>>,
    /// Why its row was set aside, if it was.
    pub set_aside: Option<String>,
}

/// A program that a job runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Program {
    /// Program and words.
    pub argv: Vec<String>,
    /// Its working folder.
    pub cwd: Option<String>,
    /// The names of the variables set for it; their values are not shown.
    pub env: Vec<String>,
}

/// A durable checkpoint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Checkpoint {
    /// The job's revision when it was persisted.
    pub revision: u64,
    /// The attempt that wrote it.
    pub attempt: u32,
    /// Checkpoints sealed, those inherited counted.
    pub sealed: u64,
    /// The job's own progress.
    pub progress: Progress,
    /// When.
    #[schema(value_type = String, format = DateTime)]
    pub at: Moment,
}

/// A job, whole.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct JobDetail {
    /// As in a list.
    #[serde(flatten)]
    pub job: Job,
    /// Its args, digit for digit as submitted.
    #[schema(value_type = serde_json::Value)]
    pub args: Box<RawValue>,
    /// The program, where it is one.
    pub program: Option<Program>,
    /// Bounds one attempt, in milliseconds.
    pub timeout_ms: Option<u64>,
    /// The widest delay after the first failure, in milliseconds.
    pub retry_base_ms: u64,
    /// The widest delay after any failure, in milliseconds.
    pub retry_cap_ms: u64,
    /// The key it was submitted under.
    pub idempotency_key: Option<String>,
    /// The job it repeats.
    #[schema(value_type = Option<String>)]
    pub retry_of: Option<JobId>,
    /// Its revision.
    pub revision: u64,
    /// The valid checkpoint.
    pub checkpoint: Option<Checkpoint>,
    /// Its attempts, first to last; the one that runs included.
    pub attempts: Vec<Attempt>,
    /// Its result.
    pub result: Option<ResultSummary>,
}

/// An attempt, as the ledger has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Attempt {
    /// Its token, 1, 2, 3 …
    pub attempt: u32,
    /// Its id.
    #[schema(value_type = String)]
    pub attempt_id: AttemptId,
    /// The incarnation that claimed it.
    #[schema(value_type = String)]
    pub worker: Incarnation,
    /// That worker's name, while it is registered.
    pub worker_name: Option<String>,
    /// `running`, or how it ended: `succeeded`, `failed`, `timed_out`, `drained`, `bad_checkpoint`, `permanent`, `lost`,
    /// `cancelled`.
    pub verdict: String,
    /// When it was claimed.
    #[schema(value_type = String, format = DateTime)]
    pub started_at: Moment,
    /// When its authority ended.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub ended_at: Option<Moment>,
    /// The sealed checkpoints it began with; 0 for the start.
    pub resumed_from: u64,
    /// The program's exit code.
    pub exit_code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Its error text.
    pub error: Option<String>,
    /// The age of its lease in milliseconds, while it has one.
    pub lease_age_ms: Option<u64>,
}
