//! What people see of jobs.

use protocol::{
    AttemptId, Incarnation, JobId, JobSpec, Phase, Priority, Timestamp, Token, UserProgress, Verdict,
};
use serde::{Deserialize, Serialize};

use super::{ProgramExit, ResultRecord};

/// Which jobs to list. All that is named must hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobFilter {
    /// Only these phases; empty for all.
    pub phases: Vec<Phase>,
    /// Only this kind.
    pub kind: Option<String>,
    /// Only this queue.
    pub queue: Option<String>,
    /// Only jobs that run under one of these; empty for all jobs.
    pub workers: Vec<Incarnation>,
    /// Only jobs accepted at or after this moment.
    pub created_from: Option<Timestamp>,
    /// Only jobs accepted before this moment.
    pub created_until: Option<Timestamp>,
    /// Only jobs with this text in kind, words or last error. Capital letters of ASCII are like small ones.
    pub text: Option<String>,
    /// Only jobs before this one in the order of the list (newest first).
    pub before: Option<JobId>,
    /// At most so many.
    pub limit: usize,
    /// At most so many jobs of each phase are looked at for one page.
    pub scan: usize,
}

impl JobFilter {
    /// Jobs looked at for one page unless said otherwise: a rare thing among millions is found in several steps, each of
    /// them short.
    pub const SCAN: usize = 5_000;

    /// Whether every job of the phases is one that is asked for.
    #[must_use]
    pub fn takes_all(&self) -> bool {
        let named = self.kind.is_some() || self.queue.is_some() || self.text.is_some();
        !named && self.workers.is_empty() && self.created_from.is_none() && self.created_until.is_none()
    }
}

impl Default for JobFilter {
    fn default() -> Self {
        Self {
            phases: Vec::new(),
            kind: None,
            queue: None,
            workers: Vec::new(),
            created_from: None,
            created_until: None,
            text: None,
            before: None,
            limit: 50,
            scan: Self::SCAN,
        }
    }
}

/// A page of jobs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobPage {
    /// Newest first. May be short, or empty, before the end: see `next`.
    pub jobs: Vec<JobSummary>,
    /// Where to go on, as [`JobFilter::before`]; `None` at the end.
    pub next: Option<JobId>,
}

/// A job in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobSummary {
    /// The job.
    pub job: JobId,
    /// Its kind.
    pub kind: String,
    /// Its queue.
    pub queue: String,
    /// Its priority.
    pub priority: Priority,
    /// Where it stands.
    pub phase: Phase,
    /// Its last attempt's token; 0 for none yet.
    pub token: Token,
    /// Its retry budget now.
    pub max_attempts: u32,
    /// When it was accepted.
    pub created_at: Timestamp,
    /// When it is or was due.
    pub due_at: Timestamp,
    /// When it became terminal.
    pub finished_at: Option<Timestamp>,
    /// Progress of its last checkpoint.
    pub progress: Option<UserProgress>,
    /// Its last error, cut to one line.
    pub error: Option<String>,
    /// The program's first words, where it is one.
    pub command: Option<Vec<String>>,
    /// Why the row was set aside, if it was.
    pub set_aside: Option<String>,
}

/// A job, whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobView {
    /// As in a list.
    pub summary: JobSummary,
    /// What it asks for.
    pub spec: JobSpec,
    /// The job it repeats.
    pub retry_of: Option<JobId>,
    /// Its revision.
    pub revision: u64,
    /// Its attempts, first to last; the one that runs included.
    pub attempts: Vec<AttemptView>,
    /// Its result.
    pub result: Option<PublishedResult>,
    /// The revision of its valid checkpoint; 0 for none.
    pub checkpoint_revision: u64,
}

/// An attempt, as the ledger has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttemptView {
    /// The attempt.
    pub attempt: AttemptId,
    /// Its token.
    pub token: Token,
    /// Who claimed it.
    pub worker: Incarnation,
    /// When it was claimed.
    pub started_at: Timestamp,
    /// When its authority ended.
    pub ended_at: Option<Timestamp>,
    /// How; `None` while it has authority.
    pub verdict: Option<Verdict>,
    /// Its error text.
    pub error: Option<String>,
    /// How its program ended.
    pub exit: Option<ProgramExit>,
    /// The spec's progress it began with.
    pub resumed_from: u64,
}

/// A published result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PublishedResult {
    /// The job.
    pub job: JobId,
    /// The attempt that wrote it.
    pub attempt: AttemptId,
    /// Its token.
    pub token: Token,
    /// Manifest, digest and sizes.
    pub record: ResultRecord,
    /// When it was published.
    pub at: Timestamp,
}

/// How many jobs of a queue are in a phase.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PhaseCount {
    /// The queue.
    pub queue: String,
    /// The phase.
    pub phase: Phase,
    /// How many.
    pub jobs: u64,
}

/// How many jobs ended in one minute, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndCount {
    /// The minute's beginning, on the store's clock.
    pub minute: Timestamp,
    /// How they ended.
    pub phase: Phase,
    /// How many.
    pub jobs: u64,
}
