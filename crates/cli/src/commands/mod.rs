//! One module a verb.

pub(crate) mod attempt;
pub(crate) mod audit;
#[cfg(feature = "embedded")]
pub(crate) mod bench;
#[cfg(any(feature = "embedded", feature = "fleet"))]
pub(crate) mod builtin;
pub(crate) mod cancel;
pub(crate) mod change;
pub(crate) mod completions;
#[cfg(feature = "embedded")]
pub(crate) mod demo;
#[cfg(feature = "embedded")]
pub(crate) mod dev;
pub(crate) mod doctor;
pub(crate) mod follow;
pub(crate) mod inspect;
pub(crate) mod limits;
pub(crate) mod list;
pub(crate) mod logs;
#[cfg(feature = "fleet")]
pub(crate) mod migrate;
#[cfg(feature = "embedded")]
pub(crate) mod place;
pub(crate) mod queues;
pub(crate) mod result;
pub(crate) mod retry;
#[cfg(feature = "embedded")]
pub(crate) mod run;
#[cfg(feature = "fleet")]
pub(crate) mod server;
pub(crate) mod show;
pub(crate) mod submit;
#[cfg(any(feature = "embedded", feature = "fleet"))]
pub(crate) mod token;
pub(crate) mod watch;
pub(crate) mod why;
#[cfg(any(feature = "embedded", feature = "fleet"))]
pub(crate) mod worker;
pub(crate) mod workers;

use crate::failure::Failure;

/// Runs a command that waits for stores.
pub(crate) fn run_async(command: impl Future<Output = Result<u8, Failure>>) -> Result<u8, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let result = runtime.block_on(command);
    runtime.shutdown_background();
    result
}
