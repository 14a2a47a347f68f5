//! The actions of this room, one file each: how a request is packed for its script, and how a row is read.
//!
//! Promises: nothing is decided here; the script of the same name does.

mod activate_attempt;
mod claim_refused;
mod clean_terminal_coordination;
mod enqueue;
mod expire_lease;
mod false_suspicion;
mod overdue;
mod publish_cancel_notice;
mod reap_observe;
mod release_lease;
mod release_reservation;
mod renew_lease;
mod report_progress;
mod reserve;
mod restore_lease;
mod settle;

pub(super) use activate_attempt::ActivateAttemptRows;
pub(super) use claim_refused::{ClaimRefusedRows, RenewReservationRows};
pub(super) use clean_terminal_coordination::CleanTerminalRows;
pub(super) use enqueue::EnqueueRows;
pub(super) use publish_cancel_notice::PublishCancelNoticeRows;
pub(super) use reap_observe::ReapObserveRows;
pub(super) use release_lease::ReleaseLeaseRows;
pub(super) use release_reservation::ReleaseReservationRows;
pub(super) use renew_lease::RenewLeaseRows;
pub(super) use report_progress::ReportProgressRows;
pub(super) use restore_lease::RestoreLeaseRows;
pub(super) use settle::SettleRows;

use protocol::{Incarnation, Token};

use super::reply::{Fields, Malformed, Read};

/// A token, where the script had one.
fn token(fields: &mut Fields) -> Read<Option<Token>> {
    let field = fields.take()?;
    if field.bytes()?.is_empty() { Ok(None) } else { field.number().map(|token| Some(Token(token))) }
}

/// A worker, where the script had one.
fn worker(fields: &mut Fields) -> Read<Option<Incarnation>> {
    Ok(fields.take()?.id_if_any()?.map(Incarnation))
}

/// What a taken row must have.
fn must<T>(found: Option<T>, what: &str) -> Read<T> {
    found.ok_or_else(|| Malformed(format!("the answer has no {what}")))
}
