//! Conditions and effects that more than one action has.

use crate::machine::rows::{Attempt, AttemptState, LeaseState};
use crate::machine::rules::{Law, Once};
use crate::machine::state::State;
use crate::phase::Phase;

/// A place is free under `GlobalLimit`.
pub(super) fn global_place(law: &Law, s: &State) -> bool {
    s.places_in_use() < usize::from(law.constants.global_limit)
}

/// `¬coordinationLostOnce`, or the audit's law, which sets no such bound.
pub(super) fn not_lost_yet(law: &Law, s: &State) -> bool {
    law.rules.once == Once::Lifted || !s.coordination_lost_once
}

/// The attempt is not merely authorized, or its job has no reservation.
pub(super) fn not_about_to_start(s: &State, of: Attempt) -> bool {
    s[of].attempt_state != AttemptState::Authorized || s[of.job].reservation.is_none()
}

/// The lease ends, and with it what it showed.
pub(super) fn end_lease(s: &mut State, of: Attempt) {
    s[of].lease_state = LeaseState::Expired;
    s[of].lease_age = 0;
    s[of.job].hide_progress_of(of);
}

/// People see this attempt's progress.
pub(super) fn show_progress(s: &mut State, of: Attempt) {
    s[of.job].live_progress = s[of].attempt_progress;
    s[of.job].live_progress_attempt = Some(of);
}

/// Authority ends without a result: the job waits for a retry, or has failed.
pub(super) fn end_without_success(law: &Law, s: &mut State, job: crate::machine::Job) {
    let row = &mut s[job];
    let again = row.current_token < law.constants.max_attempts;
    row.phase = if again { Phase::RetryWait } else { Phase::Failed };
    row.authority = None;
}
