//! Everything in coordination is gone. Driven by the world.
//!
//! Durable state and processes stay. Happens once in the model, so that it ends; as often as it happens in
//! the audit.

use super::shared;
use crate::guard::Guard;
use crate::machine::conjunct::Conjunct;
use crate::machine::rows::{LeaseState, Service};
use crate::machine::rules::Law;
use crate::machine::state::State;

/// What it needs, in the spec's order.
pub static GUARDS: &[Conjunct<()>] = &[
    Conjunct::here(Guard::FaultEnabled, |law, _, _| law.constants.fault(Service::Coordination)),
    Conjunct::here(Guard::NotLostYet, |law, s, _| shared::not_lost_yet(law, s)),
];

/// Its effect, and nothing else.
#[doc(alias = "LoseCoordinationState")]
pub fn lose_coordination_state(_: &Law, s: &mut State, (): ()) {
    for row in &mut s.jobs {
        row.queued = false;
        row.reservation = None;
        row.cancel_notice = false;
        row.live_progress = 0;
        row.live_progress_attempt = None;
    }
    for row in &mut s.attempts {
        if row.lease_state == LeaseState::Live {
            row.lease_state = LeaseState::Expired;
        }
        row.lease_age = 0;
    }
    s.coordination_lost_once = true;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Move;
    use crate::machine::fixture::World;

    #[test]
    fn it_needs_every_conjunct_and_a_refusal_names_the_false_one() {
        let step = Move::LoseCoordinationState;
        World::executing().needs(
            step,
            &[
                (Guard::FaultEnabled, |w| w.law.constants.faults_enabled = false),
                (Guard::NotLostYet, |w| w.state.coordination_lost_once = true),
            ],
        );
    }
}
