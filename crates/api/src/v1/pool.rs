//! The pool, its queues and workers, and how the whole is.

use std::collections::BTreeMap;

use protocol::{AttemptId, Incarnation, JobId, Phase};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Job, Moment};

/// Limits and what is in use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Pool {
    /// Places to run in the whole pool.
    pub global: u32,
    /// Places in use: leases, reservations, and attempts not accounted for after a loss. Absent while coordination is away.
    pub in_use: Option<u64>,
    /// Live leases.
    pub leases: Option<u64>,
    /// Reservations.
    pub reservations: Option<u64>,
    /// Attempts that a loss of coordination left without a lease, not accounted for yet.
    pub unaccounted: Option<u64>,
    /// The lease length, in milliseconds.
    pub lease_ms: u64,
    /// The pool's epoch in the durable store.
    pub epoch: u64,
    /// Whether that epoch's repair has ended.
    pub open: bool,
    /// Paused queues.
    pub paused: Vec<String>,
}

/// A change of the pool; what is absent stays.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PoolChange {
    /// Places in the pool: 1 to 1,000,000.
    #[schema(minimum = 1, maximum = 1000000)]
    pub global: Option<u32>,
    /// The lease length in milliseconds: 500 to 3,600,000.
    #[schema(minimum = 500, maximum = 3600000)]
    pub lease_ms: Option<u64>,
    /// A queue to pause.
    #[schema(min_length = 1, max_length = 128, pattern = r"^[\w\-.:/+\[\]<>]+$")]
    pub pause: Option<String>,
    /// A queue to resume.
    #[schema(min_length = 1, max_length = 128, pattern = r"^[\w\-.:/+\[\]<>]+$")]
    pub resume: Option<String>,
}

/// A queue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Queue {
    /// Its name.
    pub queue: String,
    /// Whether nothing is started from it.
    pub paused: bool,
    /// Jobs in it by phase.
    #[schema(value_type = BTreeMap<String, u64>)]
    pub jobs: BTreeMap<Phase, u64>,
}

/// A worker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Worker {
    /// Its name.
    pub name: String,
    /// Its process id on its host.
    pub pid: u32,
    /// Its host.
    pub host: String,
    /// This start of it.
    #[schema(value_type = String)]
    pub incarnation: Incarnation,
    /// Its own places to run.
    pub slots: u32,
    /// The queues it serves; absent for all.
    pub queues: Option<Vec<String>>,
    /// The kinds it serves.
    pub kinds: Vec<String>,
    /// Whether it takes no new work.
    pub draining: bool,
    /// How long ago it registered last, in milliseconds.
    pub seen_ms_ago: u64,
    /// The attempts whose leases it holds.
    pub attempts: Vec<HeldAttempt>,
}

/// An attempt under a worker's lease.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct HeldAttempt {
    /// The job.
    #[schema(value_type = String)]
    pub job: JobId,
    /// The attempt's token.
    pub attempt: u32,
    /// The attempt.
    #[schema(value_type = String)]
    pub attempt_id: AttemptId,
    /// How long ago the lease was renewed, in milliseconds.
    pub lease_age_ms: u64,
}

/// Ends in one minute.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct MinuteEnds {
    /// The minute's beginning.
    #[schema(value_type = String, format = DateTime)]
    pub minute: Moment,
    /// Jobs that succeeded in it.
    pub succeeded: u64,
    /// Jobs that failed in it.
    pub failed: u64,
    /// Jobs that were cancelled in it.
    pub cancelled: u64,
}

/// What an operator looks at first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Overview {
    /// On the durable store's clock.
    #[schema(value_type = String, format = DateTime)]
    pub at: Moment,
    /// Jobs by phase.
    #[schema(value_type = BTreeMap<String, u64>)]
    pub jobs: BTreeMap<Phase, u64>,
    /// Ends of the last hour by minute, in their order; minutes without ends are left out. Of more than 500,000 the
    /// oldest are left out.
    pub ends: Vec<MinuteEnds>,
    /// The pool.
    pub pool: Pool,
    /// Workers registered; absent while coordination is away.
    pub workers: Option<u64>,
    /// Their slots.
    pub slots: Option<u64>,
    /// The due job that waits longest.
    pub oldest_waiting: Option<Job>,
    /// The last jobs that failed, newest first, at most ten.
    pub last_failures: Vec<Job>,
    /// Rooms that gave no answer, in words.
    pub away: Vec<String>,
}

/// What was found of one thing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Found {
    /// What, in a word.
    pub name: String,
    /// `ok`, `warn` or `bad`.
    pub level: String,
    /// How it is, in a sentence.
    pub text: String,
}

/// The examination of a room.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RoomReport {
    /// `durable`, `coordination` or `target`.
    pub room: String,
    /// What was found.
    pub findings: Vec<Found>,
}

/// Whether a process can do its work now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Readiness {
    /// Whether all of it can be done.
    pub ready: bool,
    /// Each thing tried.
    pub checks: Vec<ReadyCheck>,
}

/// One thing tried.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ReadyCheck {
    /// `claim`, `renew` or `publish`.
    pub name: String,
    /// Whether it can be done.
    pub ok: bool,
    /// Why not, or how long it took.
    pub text: String,
}
