//! The life of an attempt, from reservation to report.
//!
//! Promises: nothing that can fail for the job's own reasons happens between claim and activation; the work
//! is stopped before its lease can have ended; the result is laid out and durable before it is published;
//! only an empty process tree is sealed. Does not decide who may publish: the durable room does.
//! The spec speaks of it wherever a guard names `workerState[w]`; protocol §2 and §3 are its rules.

mod attempt;
mod claim;
mod companion;
mod control;
mod handler;
mod held;
mod keeper;
mod options;
mod outcome;
mod patience;
mod process;
mod record;
mod reserve;
mod restore;
mod session;
mod stage;
pub mod warden;

pub use attempt::describe;
pub use companion::Companion;
pub use control::{AttemptControl, CheckpointError, Stop};
pub use handler::{Ending, Executor, Handler, HandlerError, Run};
pub use options::{WorkerOptions, WorkerOptionsError};
pub use process::client as attempt_client;
pub use process::{Info, ProcessExecutor, ProcessOptions, Request, Response, StopReason};
pub use session::{Rooms, Worker, WorkerError, WorkerParts};
pub use stage::{StageError, WorkFolderError};
