//! The actions of this room, one file each: guards, then effect.
//!
//! Promises: a refusal names the first guard that is false, in the order the port gives, and changes
//! nothing. The spec's action of the same name is the law of each.

mod activate_attempt;
mod claim_refused;
mod clean_terminal_coordination;
mod enqueue;
mod expire_lease;
mod false_suspicion;
mod publish_cancel_notice;
mod reap_observe;
mod release_lease;
mod release_reservation;
mod renew_lease;
mod report_progress;
mod reserve;
mod restore_lease;

pub(super) use activate_attempt::activate_attempt;
pub(super) use claim_refused::{claim_refused, renew_reservation};
pub(super) use clean_terminal_coordination::clean_terminal_coordination;
pub(super) use enqueue::enqueue;
pub(super) use expire_lease::expire_lease;
pub(super) use false_suspicion::false_suspicion;
pub(super) use publish_cancel_notice::publish_cancel_notice;
pub(super) use reap_observe::reap_observe;
pub(super) use release_lease::release_lease;
pub(super) use release_reservation::release_reservation;
pub(super) use renew_lease::renew_lease;
pub(super) use report_progress::report_progress;
pub(super) use reserve::reserve;
pub(super) use restore_lease::restore_lease;

use protocol::Guard;

/// A guard as a condition that must hold.
fn need(holds: bool, guard: Guard) -> Result<(), Guard> {
    if holds { Ok(()) } else { Err(guard) }
}
