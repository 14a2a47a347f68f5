//! The actions of this room, one file each: how a request becomes the parameters of its function, and how a row is read.
//!
//! Promises: nothing is decided here; the function of the same name does.

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
