//! A lease that was not renewed ends. Coordination, driven by the reaper.
//!
//! Promises only that the place is free again. That the attempt does not execute any more is not known: time
//! is no proof of death.

use super::shared;
use crate::guard::Guard;
use crate::machine::conjunct::Conjunct;
use crate::machine::rows::{Attempt, LeaseState};
use crate::machine::rules::Law;
use crate::machine::state::State;

/// What it needs, in the spec's order.
pub static GUARDS: &[Conjunct<Attempt>] = &[
    Conjunct::here(Guard::LeaseLive, |_, s, of| s[of].lease_state == LeaseState::Live),
    Conjunct::here(Guard::LeaseAtLimit, |law, s, of| s[of].lease_age == law.constants.lease_limit),
];

/// Its effect, and nothing else.
#[doc(alias = "ExpireLease")]
pub fn expire_lease(_: &Law, s: &mut State, of: Attempt) {
    shared::end_lease(s, of);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Move;
    use crate::machine::fixture::{A, World};

    #[test]
    fn it_needs_every_conjunct_and_a_refusal_names_the_false_one() {
        let step = Move::ExpireLease(A);
        World::executing().with(|w| w.attempt().lease_age = 1).needs(
            step,
            &[
                (Guard::LeaseLive, |w| w.attempt().lease_state = LeaseState::Expired),
                (Guard::LeaseAtLimit, |w| w.attempt().lease_age = 0),
            ],
        );
    }
}
