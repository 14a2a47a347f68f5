//! One file per action: the function that decides one row of a batch.
//!
//! Promises that a row is decided by the guards its SQL names, in the order of the port's docs; that a repeated
//! request is recognised before a guard is asked; and that every refusal names its guard.

mod accept_failure;
mod accept_success;
mod authorize_attempt;
mod end;
mod finalize_cancel;
mod invalidate_checkpoint;
mod outbox;
mod persist_checkpoint;
mod pool;
mod reap_lost_attempt;
mod reject_outcome;
mod request_cancel;
mod retry;
mod schedule_retry;
mod stages_swept;
mod submit;

pub(super) use accept_failure::accept_failure;
pub(super) use accept_success::accept_success;
pub(super) use authorize_attempt::authorize_attempt;
pub(super) use finalize_cancel::finalize_cancel;
pub(super) use invalidate_checkpoint::invalidate_checkpoint;
pub(super) use persist_checkpoint::persist_checkpoint;
pub(super) use pool::{adopt_target, configure, open_epoch, raise_epoch, read_pool};
pub(super) use reap_lost_attempt::reap_lost_attempt;
pub(super) use request_cancel::request_cancel;
pub(super) use retry::retry;
pub(super) use schedule_retry::schedule_retry;
pub(super) use stages_swept::stages_swept;
pub(super) use submit::submit;
