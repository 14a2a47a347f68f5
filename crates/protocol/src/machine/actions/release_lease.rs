//! The lease of an attempt that needs none any more is given back. Coordination, driven by the worker and
//! the reaper.
//!
//! What makes it useless stays true. It also ends a lease that was restored or activated too late.

use super::shared;
use crate::guard::Guard;
use crate::machine::conjunct::Conjunct;
use crate::machine::rows::{Attempt, AttemptState, LeaseState};
use crate::machine::rules::Law;
use crate::machine::state::State;

/// What it needs, in the spec's order.
pub static GUARDS: &[Conjunct<Attempt>] = &[
    Conjunct::here(Guard::LeaseLive, |_, s, of| s[of].lease_state == LeaseState::Live),
    Conjunct::elsewhere(Guard::LeaseUseless, |_, s, of| useless(s, of)),
];

/// Its effect, and nothing else.
#[doc(alias = "ReleaseLease")]
pub fn release_lease(_: &Law, s: &mut State, of: Attempt) {
    shared::end_lease(s, of);
}

fn useless(s: &State, of: Attempt) -> bool {
    matches!(s[of].attempt_state, AttemptState::Stopped | AttemptState::Committed)
        || !s.current_authority(of)
        || s.terminal(of.job)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Move;
    use crate::machine::fixture::{A, World};
    use crate::phase::Phase;

    #[test]
    fn it_needs_every_conjunct_and_a_refusal_names_the_false_one() {
        let step = Move::ReleaseLease(A);
        World::executing().with(|w| w.job().phase = Phase::Failed).needs(
            step,
            &[
                (Guard::LeaseLive, |w| w.attempt().lease_state = LeaseState::Expired),
                (Guard::LeaseUseless, |w| w.job().phase = Phase::Running),
            ],
        );
    }
}
