//! The agents: what moves jobs along when nobody asks.
//!
//! Promises: they take no input but hints, work in bounded batches, and are correct with any number of
//! replicas, because every step they take is a guarded action of a room. They never decide from silence.
//! Do not run jobs. The spec speaks of each under `Fairness`; protocol §1 says which actions they drive.

mod canceller;
mod cleaner;
mod dispatcher;
mod driver;
mod epoch_keeper;
mod ground;
mod reaper;
mod retry_scheduler;

pub use canceller::Canceller;
pub use cleaner::{Cleaner, CleanerOptions};
pub use dispatcher::Dispatcher;
pub use driver::{Agent, Report, run_all};
pub use epoch_keeper::EpochKeeper;
pub use ground::{AgentRooms, Ground};
pub use reaper::Reaper;
pub use retry_scheduler::RetryScheduler;
