//! The law, one file per action, each named as the action is.
//!
//! A file holds the action's guard as a table of conjuncts in the spec's order, each marked with who can
//! decide it (see [`crate::machine::conjunct`]), and its effect as a function of the action's name.
//! An effect changes exactly what the spec's action assigns, whether or not the guard holds, so that a law
//! with a conjunct taken out can be searched for the harm that does.

pub mod accept_failure;
pub mod accept_success;
pub mod activate_attempt;
pub mod activate_refused;
pub mod advance_attempt;
pub mod authorize_attempt;
pub mod claim_refused;
pub mod clean_terminal_coordination;
pub mod cleanup_stage;
pub mod cooperative_stop;
pub mod crash_worker;
pub mod dispatch_read;
pub mod drop_link;
pub mod enqueue;
pub mod expire_lease;
pub mod false_suspicion;
pub mod finalize_cancel;
pub mod invalidate_checkpoint;
pub mod lose_coordination_state;
pub mod persist_checkpoint;
pub mod publish_cancel_notice;
pub mod reap_lost_attempt;
pub mod reap_observe;
pub mod reject_outcome;
pub mod release_lease;
pub mod release_reservation;
pub mod renew_lease;
pub mod report_progress;
pub mod request_cancel;
pub mod reserve;
pub mod restore_lease;
pub mod restore_link;
pub mod schedule_retry;
pub mod send_outcome;
pub mod start_incarnation;
pub mod tick;

mod shared;
