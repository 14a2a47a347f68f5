//! The conformance suite: one file per method of the port, the same questions to every adapter of the room.
//!
//! Promises that two adapters that pass keep, check, lay out and take away the same. Does not know where an
//! adapter keeps things: it brings a [`Fixture`], and `target_conformance!` makes each case a test of its own.
//! The spec speaks of what is asked here as `AdvanceAttempt` and `CleanupStage`; protocol §3 says the rest.

#![expect(clippy::unwrap_used, reason = "these are tests; where they live lets every adapter run them")]
#![expect(missing_docs, reason = "a case is its name")]

mod cases;

pub mod discard;
pub mod fetch;
pub mod identity;
pub mod lay_out;
pub mod local_result;
pub mod old_stages;
pub mod open_log;
pub mod open_result;
pub mod read;
pub mod seal_bytes;
pub mod seal_file;
pub mod settle;
pub mod sweep;
pub mod verify;
pub mod world;

use std::sync::Arc;

pub use cases::CASES;
pub use world::{Fixture, World};

/// A case, ready to be run over a fixture.
pub type Case = fn(Arc<dyn Fixture>);

/// Runs one case.
///
/// # Panics
/// When the room does not do what the case asks.
pub fn run<F: Future<Output = ()>>(fixture: Arc<dyn Fixture>, case: fn(World) -> F) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(case(World::new(fixture)));
}
