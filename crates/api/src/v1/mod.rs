//! The documents of version 1: what goes over HTTP, and what the command line prints as JSON.
//!
//! Names are the spec's where it has them. A field may be added; none is taken away or changes its meaning within a version.

mod access;
mod changes;
mod events;
mod explain;
mod jobs;
mod moment;
mod pool;
mod problem;
mod results;

pub use access::{Login, MadeToken, Scope, Token, TokenRequest, TrailRecord};
pub use changes::{
    Cancelled, Item, Items, JobIdText, JobIds, Retried, RetriedAs, Submission, Submissions, Submitted,
};
pub use events::{EventName, EventRecord};
pub use explain::{AttemptStory, Because, Check, Expected, Holder, Inspection, ReasonCode, Why};
pub use jobs::{Attempt, Checkpoint, Job, JobDetail, JobQuery, Page, PhaseName, Program, Progress};
pub use moment::Moment;
pub use pool::{
    Found, HeldAttempt, MinuteEnds, Overview, Pool, PoolChange, Queue, Readiness, ReadyCheck, RoomReport,
    Worker,
};
pub use problem::{Code, Problem};
pub use results::{EntryKind, ResultEntry, ResultSummary};
