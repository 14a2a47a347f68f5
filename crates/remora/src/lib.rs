//! Remora for Rust programs: typed jobs, worker processes, a client.
//!
//! A job is a type with a kind, its arguments and an async `run`. A worker process serves it; whatever is in
//! its output folder when it returns becomes the result, published once.
//!
//! ```no_run
//! use remora::{Context, Job, JobError, WorkerProcess};
//!
//! struct Greet;
//!
//! #[remora::async_trait]
//! impl Job for Greet {
//!     const KIND: &'static str = "greet";
//!     type Args = String;
//!
//!     async fn run(&self, context: Context, name: String) -> Result<(), JobError> {
//!         std::fs::write(context.output()?.join("greeting"), format!("Hello, {name}\n"))?;
//!         Ok(())
//!     }
//! }
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     remora::init();
//!     WorkerProcess::new("./.remora").job(Greet).run()?;
//!     Ok(())
//! }
//! ```
//!
//! Promises and limits are those of protocol §3: a checkpoint is durable when the call returns; a handler
//! that is told to end at once is dropped where it stands.

mod belonging;
mod client;
mod folder;
#[cfg(feature = "health")]
mod health;
mod job;
mod recording;
mod rooms;
mod traced;
mod watched;
mod worker_process;

pub use async_trait::async_trait;
pub use belonging::{TargetError, adopt_target};
pub use client::{Client, ClientError, answer_about};
pub use folder::{DataFolder, writable};
pub use job::{Context, Job, JobError};
pub use protocol::{JobId, JobSpec, Phase, Token, UserProgress};
pub use recording::{EVENTS_END, FileEvents};
pub use rooms::{ROOM_VARIABLES, RoomUrls, RoomsError};
pub use traced::{Ear, Traced};
pub use watched::{Timer, Watches};
pub use worker::Rooms;
pub use worker_process::{WARDEN_WORD, WorkerProcess, WorkerProcessError, init};
