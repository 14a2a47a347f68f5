//! A lease is put back after a loss. Coordination, driven by the worker; `TwoStores` only.
//!
//! Running work survives a loss that is repaired within the worker's trust window. Authority was read a
//! moment earlier and may have turned false; `ReleaseLease` ends a lease restored too late.

use super::shared;
use crate::guard::Guard;
use crate::machine::conjunct::Conjunct;
use crate::machine::rows::{Attempt, AttemptState, LeaseState, Service};
use crate::machine::rules::Law;
use crate::machine::state::State;

/// What it needs, in the spec's order.
pub static GUARDS: &[Conjunct<Attempt>] = &[
    Conjunct::here(Guard::CoordinationLost, |_, s, _| s.coordination_lost_once),
    Conjunct::sender(Guard::AttemptExecuting, |_, s, of| s[of].attempt_state == AttemptState::Executing),
    Conjunct::here(Guard::LeaseExpired, |_, s, of| s[of].lease_state == LeaseState::Expired),
    Conjunct::sender(Guard::WorkerUp, |_, s, of| s.up(s[of].attempt_worker)),
    Conjunct::sender(Guard::ReachCoordination, |_, s, of| {
        s.can_reach(s[of].attempt_worker, Service::Coordination)
    }),
    Conjunct::here(Guard::GlobalLimit, |law, s, _| shared::global_place(law, s)),
];

/// Its effect, and nothing else.
#[doc(alias = "RestoreLease")]
pub fn restore_lease(_: &Law, s: &mut State, of: Attempt) {
    s[of].lease_state = LeaseState::Live;
    s[of].lease_age = 0;
    shared::show_progress(s, of);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Move;
    use crate::machine::fixture::{A, World};
    use crate::machine::rows::WorkerState;

    #[test]
    fn it_needs_every_conjunct_and_a_refusal_names_the_false_one() {
        let step = Move::RestoreLease(A);
        World::executing().played(&[Move::LoseCoordinationState]).needs(
            step,
            &[
                (Guard::CoordinationLost, |w| w.state.coordination_lost_once = false),
                (Guard::AttemptExecuting, |w| w.attempt().attempt_state = AttemptState::Stopped),
                (Guard::LeaseExpired, |w| w.attempt().lease_state = LeaseState::NoLease),
                (Guard::WorkerUp, |w| w.worker().worker_state = WorkerState::Down),
                (Guard::ReachCoordination, |w| w.cut(Service::Coordination)),
                (Guard::GlobalLimit, |w| w.second().lease_state = LeaseState::Live),
            ],
        );
    }
}
