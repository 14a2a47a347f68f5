//! One file per action: its parameters, and what its statement's answer means.
//!
//! Promises that a row is decided by the guards its SQL names, in the order of the port's docs; that a repeated
//! request is recognised before a guard is asked; and that every refusal names its guard.

mod accept_failure;
mod accept_success;
mod authorize_attempt;
mod end;
mod finalize_cancel;
mod invalidate_checkpoint;
mod persist_checkpoint;
mod pool;
mod reap_lost_attempt;
mod reject_outcome;
mod request_cancel;
mod retry;
mod schedule_retry;
mod stages_swept;
mod submit;

pub(super) use accept_failure::Failures;
pub(super) use accept_success::Successes;
pub(super) use authorize_attempt::{Claim, Claims};
pub(super) use finalize_cancel::CancelEnds;
pub(super) use invalidate_checkpoint::Invalidations;
pub(super) use persist_checkpoint::Checkpoints;
pub(super) use pool::read_pool;
pub(super) use reap_lost_attempt::Losses;
pub(super) use request_cancel::Cancels;
pub(super) use retry::{Repeat, Repeats};
pub(super) use schedule_retry::Retries;
pub(super) use stages_swept::Sweeps;
pub(super) use submit::Submissions;
pub(in crate::postgres) use submit::{answer as submission, params as submission_params};
