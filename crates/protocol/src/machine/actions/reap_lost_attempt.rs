//! Authority of a lost attempt is revoked. Durable, driven by the reaper.
//!
//! Promises that only the attempt judged loses it. Does not stop the process, which may be a zombie from
//! here on. In `Remora` it reads both stores at once; in `TwoStores` it acts on what `ReapObserve` saw.

use super::shared;
use crate::guard::Guard;
use crate::machine::conjunct::Conjunct;
use crate::machine::rows::{Attempt, LeaseState};
use crate::machine::rules::{Law, Module};
use crate::machine::state::State;
use crate::phase::Phase;

/// What it needs, in the spec's order.
pub static GUARDS: &[Conjunct<Attempt>] = &[
    Conjunct::sender(Guard::LostSeen, |_, s, of: Attempt| s[of].lost_seen).only(Module::TwoStores),
    Conjunct::here(Guard::Authority, |_, s, of| s.current_authority(of)),
    Conjunct::here(Guard::PhaseRunning, |_, s, of| s[of.job].phase == Phase::Running),
    Conjunct::elsewhere(Guard::LeaseNotLive, |_, s, of: Attempt| s[of].lease_state != LeaseState::Live)
        .only(Module::Remora),
    Conjunct::elsewhere(Guard::NotAboutToStart, |_, s, of: Attempt| shared::not_about_to_start(s, of))
        .only(Module::Remora),
];

/// Its effect, and nothing else.
#[doc(alias = "ReapLostAttempt")]
pub fn reap_lost_attempt(law: &Law, s: &mut State, of: Attempt) {
    shared::end_without_success(law, s, of.job);
    s[of].lost_seen = false;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Move;
    use crate::machine::fixture::{A, W, World};

    #[test]
    fn it_needs_every_conjunct_and_a_refusal_names_the_false_one() {
        let step = Move::ReapLostAttempt(A);
        World::lost().with(|w| w.attempt().lost_seen = true).needs(
            step,
            &[
                (Guard::LostSeen, |w| w.attempt().lost_seen = false),
                (Guard::Authority, |w| w.job().authority = None),
                (Guard::PhaseRunning, |w| w.job().phase = Phase::Cancelling),
                (Guard::LeaseNotLive, |w| w.attempt().lease_state = LeaseState::Live),
                (Guard::NotAboutToStart, |w| w.job().reservation = Some(W)),
            ],
        );
    }
}
