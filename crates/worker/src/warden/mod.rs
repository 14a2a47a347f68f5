//! The warden: a process of its own between worker and program, the subreaper of everything the program
//! starts (protocol §3, "Process tree").
//!
//! Promises: when the pipe to its worker closes, or the last deadline sent down it passes, every descendant
//! is killed; after the program's own exit whatever is left is killed; it says `empty` only when nothing of
//! the program runs any more. Does not know jobs, stores or time limits: the worker does.

mod brood;
mod client;
mod descendants;
mod program;

use std::time::Duration;

use serde::{Deserialize, Serialize};

pub use brood::Brood;
pub use client::WardenCommand;
pub(crate) use client::{Warden, WardenReport};
pub use descendants::{descendants, kill_descendants};
pub use program::warden_main;

/// The first line down the pipe: what to run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Start {
    pub(crate) argv: Vec<String>,
    pub(crate) cwd: String,
    pub(crate) env: Vec<(String, String)>,
    /// When to kill unless told otherwise, on CLOCK_BOOTTIME.
    pub(crate) deadline: Duration,
}

/// A later line down the pipe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Order {
    /// A new deadline, on CLOCK_BOOTTIME.
    Deadline(Duration),
    /// SIGTERM to the whole tree.
    Term,
    /// SIGKILL to the whole tree.
    Kill,
}

/// A line back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Report {
    /// The program could not be started; it never will when `permanent`.
    CannotStart { permanent: bool, text: String },
    /// The program itself returned.
    Exited(i32),
    /// A signal ended the program itself.
    Signalled(i32),
    /// The last deadline has passed; everything is being killed.
    Overdue,
    /// Nothing of it runs any more.
    Empty,
}
