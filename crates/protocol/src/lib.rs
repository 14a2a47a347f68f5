//! The protocol, pure: what a job, an attempt, an action and a guard are, and what each action does.
//!
//! Promises: no I/O, no clock, no randomness, no async. Time and chance enter as arguments, so every
//! answer can be repeated. Does not decide when an action is tried; agents and workers do.
//! The spec speaks of all of it: `spec/Remora.tla` and `spec/TwoStores.tla`.

pub mod action;
pub mod event;
mod finding;
pub mod guard;
pub mod id;
pub mod job;
pub mod limit;
pub mod machine;
pub mod origin;
pub mod phase;
mod pool;
pub mod retry;
pub mod step;
pub mod time;

pub use action::{Action, Room};
pub use event::{Detail, Event, EventSink, NoEvents, Outcome};
pub use finding::{Finding, Level, told};
pub use guard::Guard;
pub use id::{ActorId, AttemptId, Incarnation, InstallationId, JobId, ReservationId, TargetId, Token};
pub use job::{Command, JobSpec, Position, Priority, UserProgress, Violation, Window};
pub use origin::{Judged, Mark, Origin};
pub use phase::{FailureCause, Phase, Verdict};
pub use pool::PoolConfig;
pub use retry::RetryPolicy;
pub use step::{Fault, FaultKind, Reason, Stamped, Step};
pub use time::Timestamp;
