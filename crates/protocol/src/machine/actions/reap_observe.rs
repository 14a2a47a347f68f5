//! A reaper sees an attempt without lease or permit. A read of coordination, driven by the reaper;
//! `TwoStores` only.
//!
//! Judges what can be seen: no live lease of this attempt, and no reservation held by its own worker.
//! Another worker's reservation of the same job says nothing.

use super::shared;
use crate::guard::Guard;
use crate::machine::conjunct::Conjunct;
use crate::machine::rows::{Attempt, LeaseState};
use crate::machine::rules::{Law, ReaperJudgement};
use crate::machine::state::State;

/// What it needs, in the spec's order.
pub static GUARDS: &[Conjunct<Attempt>] = &[
    Conjunct::sender(Guard::NotLostSeen, |_, s, of| !s[of].lost_seen),
    Conjunct::elsewhere(Guard::Authority, |_, s, of| s.current_authority(of)),
    Conjunct::here(Guard::LeaseNotLive, |_, s, of| s[of].lease_state != LeaseState::Live),
    Conjunct::here(Guard::ReservationNotHeld, judged_lost),
];

/// Its effect, and nothing else.
#[doc(alias = "ReapObserve")]
pub fn reap_observe(_: &Law, s: &mut State, of: Attempt) {
    s[of].lost_seen = true;
}

fn judged_lost(law: &Law, s: &State, of: Attempt) -> bool {
    match law.rules.reaper {
        ReaperJudgement::OwnReservation => s[of.job].reservation != s[of].attempt_worker,
        ReaperJudgement::AnyReservation => shared::not_about_to_start(s, of),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Move;
    use crate::machine::fixture::{A, W, World};

    #[test]
    fn it_needs_every_conjunct_and_a_refusal_names_the_false_one() {
        let step = Move::ReapObserve(A);
        World::lost().needs(
            step,
            &[
                (Guard::NotLostSeen, |w| w.attempt().lost_seen = true),
                (Guard::Authority, |w| w.job().authority = None),
                (Guard::LeaseNotLive, |w| w.attempt().lease_state = LeaseState::Live),
                (Guard::ReservationNotHeld, |w| w.job().reservation = Some(W)),
            ],
        );
    }
}
