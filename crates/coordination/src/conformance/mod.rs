//! One suite for every adapter of this room: the same requests must get the same answers, refusals included.
//!
//! An adapter gives a [`Fixture`] and writes `coordination::conformance!(fresh);` in a test file, where
//! `fresh` is an async function that makes one; each case becomes a test of its own. Random walks beside the law are
//! in `walk`.
//! Promises: a case uses the port only, and moves time and loses the state through the fixture. Does not
//! look at events: who records them differs between adapters.
//! The spec speaks of each action under its own name, which is the name of a module here.

pub mod activate_attempt;
pub mod claim_refused;
pub mod clean_terminal_coordination;
pub mod enqueue;
pub mod epoch;
pub mod expire_lease;
pub mod false_suspicion;
pub mod publish_cancel_notice;
pub mod reads;
pub mod reap_observe;
pub mod release_lease;
pub mod release_reservation;
pub mod renew_lease;
pub mod report_progress;
pub mod reserve;
pub mod restore_lease;
pub mod wakes;
#[cfg(feature = "walks")]
pub mod walk;

mod cases;
mod pool;
mod requests;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use crate::CoordinationRoom;

pub use pool::Pool;

/// An adapter under test: a room that is empty at first, whose clock and losses the suite commands.
#[async_trait]
pub trait Fixture: Send + Sync {
    /// The room.
    fn room(&self) -> Arc<dyn CoordinationRoom>;

    /// Lets the room's clock go on. It stands still otherwise.
    async fn advance(&self, by: Duration);

    /// `LoseCoordinationState`.
    async fn lose(&self);
}
