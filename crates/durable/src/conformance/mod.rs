//! The conformance suite: one file per action, the same questions to every adapter of the room.
//!
//! Promises that two adapters that pass give the same answers: every guard refused by name, every repeat, every
//! effect, every order, and on random walks (`walk`) the same steps as the law. Does not know how an adapter keeps
//! things: it brings a [`Fixture`], and `durable_conformance!` makes each case a test of its own.
//! The spec speaks of what is asked here as the durable actions of `Next`.

#![expect(clippy::unwrap_used, reason = "these are tests; where they live lets every adapter run them")]
#![expect(missing_docs, reason = "a case is its name")]

mod cases;

pub mod accept_failure;
pub mod accept_success;
pub mod access;
pub mod authorize_attempt;
pub mod dispatch_read;
pub mod events;
pub mod finalize_cancel;
pub mod invalidate_checkpoint;
pub mod people;
pub mod persist_checkpoint;
pub mod pool;
pub mod reap_lost_attempt;
pub mod request_cancel;
pub mod retry;
pub mod schedule_retry;
pub mod stages_swept;
pub mod submit;
#[cfg(feature = "walks")]
pub mod walk;
pub mod world;

use std::sync::Arc;

pub use cases::CASES;
pub use world::{Fixture, World};

/// Runs one case.
///
/// # Panics
/// When the room does not do what the case asks.
pub fn run<F: Future<Output = ()>>(fixture: Arc<dyn Fixture>, case: fn(World) -> F) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(case(World::new(fixture)));
}
