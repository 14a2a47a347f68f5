//! The permit becomes a lease, the attempt executes. Coordination, driven by the worker.
//!
//! Promises one lease per permit. Authority may turn false before it: that makes a zombie with a lease,
//! which can publish nothing and whose lease `ReleaseLease` ends.

use super::shared;
use crate::guard::Guard;
use crate::machine::conjunct::Conjunct;
use crate::machine::rows::{Attempt, AttemptState, LeaseState, Service};
use crate::machine::rules::{Law, Module};
use crate::machine::state::State;
use crate::phase::Phase;

/// What it needs, in the spec's order.
pub static GUARDS: &[Conjunct<Attempt>] = &[
    Conjunct::elsewhere(Guard::Authority, |_, s, of: Attempt| s.current_authority(of)).only(Module::Remora),
    Conjunct::elsewhere(Guard::PhaseRunning, |_, s, of: Attempt| s[of.job].phase == Phase::Running)
        .only(Module::Remora),
    Conjunct::sender(Guard::AttemptAuthorized, |_, s, of| s[of].attempt_state == AttemptState::Authorized),
    Conjunct::here(Guard::ReservationHeld, |_, s, of| s[of.job].reservation == s[of].attempt_worker),
    Conjunct::sender(Guard::WorkerUp, |_, s, of| s.up(s[of].attempt_worker)),
    Conjunct::sender(Guard::ReachCoordination, |_, s, of| {
        s.can_reach(s[of].attempt_worker, Service::Coordination)
    }),
];

/// Its effect, and nothing else.
#[doc(alias = "ActivateAttempt")]
pub fn activate_attempt(_: &Law, s: &mut State, of: Attempt) {
    s[of.job].reservation = None;
    s[of].lease_state = LeaseState::Live;
    s[of].lease_age = 0;
    s[of].attempt_state = AttemptState::Executing;
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
        let step = Move::ActivateAttempt(A);
        World::authorized().needs(
            step,
            &[
                (Guard::Authority, |w| w.job().authority = None),
                (Guard::PhaseRunning, |w| w.job().phase = Phase::Cancelling),
                (Guard::AttemptAuthorized, |w| w.attempt().attempt_state = AttemptState::Stopped),
                (Guard::ReservationHeld, |w| w.job().reservation = None),
                (Guard::WorkerUp, |w| w.worker().worker_state = WorkerState::Down),
                (Guard::ReachCoordination, |w| w.cut(Service::Coordination)),
            ],
        );
    }
}
