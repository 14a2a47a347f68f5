//! The lease is young again. Coordination, driven by the worker's lease keeper.
//!
//! Asks nothing of durable: a zombie may renew until it is told. Does not revive a lease that has ended.

use crate::guard::Guard;
use crate::machine::conjunct::Conjunct;
use crate::machine::rows::{Attempt, LeaseState, Service};
use crate::machine::rules::Law;
use crate::machine::state::State;

/// What it needs, in the spec's order.
pub static GUARDS: &[Conjunct<Attempt>] = &[
    Conjunct::here(Guard::LeaseLive, |_, s, of| s[of].lease_state == LeaseState::Live),
    Conjunct::here(Guard::LeaseAged, |_, s, of| s[of].lease_age > 0),
    Conjunct::sender(Guard::WorkerUp, |_, s, of| s.up(s[of].attempt_worker)),
    Conjunct::sender(Guard::ReachCoordination, |_, s, of| {
        s.can_reach(s[of].attempt_worker, Service::Coordination)
    }),
];

/// Its effect, and nothing else.
#[doc(alias = "RenewLease")]
pub fn renew_lease(_: &Law, s: &mut State, of: Attempt) {
    s[of].lease_age = 0;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Move;
    use crate::machine::fixture::{A, World};
    use crate::machine::rows::WorkerState;

    #[test]
    fn it_needs_every_conjunct_and_a_refusal_names_the_false_one() {
        let step = Move::RenewLease(A);
        World::executing().with(|w| w.attempt().lease_age = 1).needs(
            step,
            &[
                (Guard::LeaseLive, |w| w.attempt().lease_state = LeaseState::Expired),
                (Guard::LeaseAged, |w| w.attempt().lease_age = 0),
                (Guard::WorkerUp, |w| w.worker().worker_state = WorkerState::Down),
                (Guard::ReachCoordination, |w| w.cut(Service::Coordination)),
            ],
        );
    }
}
