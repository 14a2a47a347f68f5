//! What is asked to change, and what came of it.

use protocol::{JobId, Phase};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;

use super::{Moment, Problem};

/// A job to accept. What is left out is as the command line has it.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Submission {
    /// The kind of work; `exec` unless said.
    #[schema(min_length = 1, max_length = 128, pattern = r"^[\w\-.:/+\[\]<>]+$")]
    pub kind: Option<String>,
    /// The queue; `default` unless said.
    #[schema(min_length = 1, max_length = 128, pattern = r"^[\w\-.:/+\[\]<>]+$")]
    pub queue: Option<String>,
    /// From 1 (first) to 4; 2 unless said.
    #[schema(minimum = 1, maximum = 4)]
    pub priority: Option<u8>,
    /// Any JSON, kept digit for digit; `null` unless said. At most 1 MiB.
    #[schema(value_type = Option<serde_json::Value>)]
    pub args: Option<Box<RawValue>>,
    /// The program and its words, for the kind `exec`.
    #[schema(min_items = 1)]
    pub command: Option<Vec<String>>,
    /// Its working folder; a scratch folder unless said, or where that does not exist on the worker.
    pub cwd: Option<String>,
    /// Variables for it.
    pub env: std::collections::BTreeMap<String, String>,
    /// The retry budget, 1 to 32,767; 25 unless said.
    #[schema(minimum = 1, maximum = 32767)]
    pub max_attempts: Option<u32>,
    /// Not before this moment.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub scheduled_at: Option<Moment>,
    /// Bounds one attempt, in milliseconds; no limit unless said.
    #[schema(minimum = 1)]
    pub timeout_ms: Option<u64>,
    /// The widest delay after the first failure, in milliseconds.
    pub retry_base_ms: Option<u64>,
    /// The widest delay after any failure, in milliseconds.
    pub retry_cap_ms: Option<u64>,
    /// The same key and the same request give the same job back. At most 256 bytes.
    #[schema(min_length = 1, max_length = 256)]
    pub idempotency_key: Option<String>,
}

/// Jobs to accept, each for itself: one that is no `Submission` is refused in its own item.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Submissions {
    /// At most 10,000, each a `Submission`.
    #[schema(value_type = Vec<serde_json::Value>, max_items = 10_000)]
    pub jobs: Vec<Submission>,
}

/// A job's id in text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(pattern = "^job_[0-7][0-9a-hjkmnp-tv-z]{25}$")]
pub struct JobIdText(pub String);

/// Jobs to change, each for itself.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct JobIds {
    /// At most 10,000.
    #[schema(value_type = Vec<JobIdText>, max_items = 10_000)]
    pub jobs: Vec<JobId>,
}

/// What came of each element of a batch, in their order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Items<T> {
    /// One an element.
    pub items: Vec<Item<T>>,
}

/// What came of one element of a batch: exactly one of the two.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Item<T> {
    /// It was done.
    Done(T),
    /// It was not.
    Problem(Problem),
}

impl<T> Item<T> {
    /// What was done, if it was.
    pub fn done(&self) -> Option<&T> {
        match self {
            Self::Done(done) => Some(done),
            Self::Problem(_) => None,
        }
    }

    /// The same as a result.
    ///
    /// # Errors
    /// The problem.
    pub fn into_result(self) -> Result<T, Problem> {
        match self {
            Self::Done(done) => Ok(done),
            Self::Problem(problem) => Err(problem),
        }
    }
}

impl<T> From<Result<T, Problem>> for Item<T> {
    fn from(result: Result<T, Problem>) -> Self {
        result.map_or_else(Self::Problem, Self::Done)
    }
}

/// An accepted job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Submitted {
    /// The job.
    #[schema(value_type = String)]
    pub job: JobId,
    /// Whether it was there already, under this idempotency key.
    pub existed: bool,
    /// Where it stands.
    #[schema(value_type = super::PhaseName)]
    pub phase: Phase,
}

/// A cancel that was taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Cancelled {
    /// The job.
    #[schema(value_type = String)]
    pub job: JobId,
    /// `cancelling` while an attempt has authority, else `cancelled`.
    #[schema(value_type = super::PhaseName)]
    pub phase: Phase,
}

/// What a retry did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum RetriedAs {
    /// The job waited for its next attempt, which is due now.
    DueNow,
    /// The job was set aside and is offered again.
    Offered,
    /// The job had ended; another one repeats it.
    NewJob,
}

/// A retry that was taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Retried {
    /// The job that was named.
    #[schema(value_type = String)]
    pub job: JobId,
    /// What was done.
    pub retried: RetriedAs,
    /// The job that runs now: a new one, or the same.
    #[schema(value_type = String)]
    pub now: JobId,
}
