//! The permit of a live worker is dropped by age. Coordination, driven by a permit's deadline; `TwoStores`
//! only.
//!
//! A failure detector may be wrong: safe, and at most an attempt is spent. Once in the model.

use super::shared;
use crate::guard::Guard;
use crate::machine::conjunct::Conjunct;
use crate::machine::rows::Job;
use crate::machine::rules::Law;
use crate::machine::state::State;

/// What it needs, in the spec's order.
pub static GUARDS: &[Conjunct<Job>] = &[
    Conjunct::here(Guard::FaultEnabled, |law, _, _| law.constants.faults_enabled),
    Conjunct::here(Guard::ReservationHeld, |_, s, job| s[job].reservation.is_some()),
    Conjunct::here(Guard::NotLostYet, |law, s, _| shared::not_lost_yet(law, s)),
];

/// Its effect, and nothing else.
#[doc(alias = "FalseSuspicion")]
pub fn false_suspicion(_: &Law, s: &mut State, job: Job) {
    s[job].reservation = None;
    s.coordination_lost_once = true;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Move;
    use crate::machine::fixture::{J, World};

    #[test]
    fn it_needs_every_conjunct_and_a_refusal_names_the_false_one() {
        let step = Move::FalseSuspicion(J);
        World::reserved().needs(
            step,
            &[
                (Guard::FaultEnabled, |w| w.law.constants.faults_enabled = false),
                (Guard::ReservationHeld, |w| w.job().reservation = None),
                (Guard::NotLostYet, |w| w.state.coordination_lost_once = true),
            ],
        );
    }
}
