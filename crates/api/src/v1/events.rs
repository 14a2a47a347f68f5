//! What a stream tells.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Job, Overview};

/// What kind of event: the `event:` line of the stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum EventName {
    /// A job as it is now.
    Job,
    /// The overview as it is now.
    Overview,
    /// A room gives no answer at the moment; the stream goes on.
    Away,
}

/// One event. A stream that is taken up again with the last `id` goes on with what is newer: the state now, never the
/// steps between.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct EventRecord {
    /// Its number within what it is about: a job's revision and its progress, as text; opaque.
    pub id: String,
    /// What it is.
    pub event: EventName,
    /// The job, for `job`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<Job>,
    /// The overview, for `overview`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overview: Option<Box<Overview>>,
    /// In words, for `away`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}
