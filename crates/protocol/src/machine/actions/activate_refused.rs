//! A worker whose activation was refused stops the attempt it had claimed. Worker memory, driven by the
//! worker; `TwoStores` only.
//!
//! The other hand-back rule. The attempt's reaping is then driven by its own worker.

use crate::guard::Guard;
use crate::machine::conjunct::Conjunct;
use crate::machine::rows::{Attempt, AttemptState, Service};
use crate::machine::rules::Law;
use crate::machine::state::State;

/// What it needs, in the spec's order.
pub static GUARDS: &[Conjunct<Attempt>] = &[
    Conjunct::here(Guard::AttemptAuthorized, |_, s, of| s[of].attempt_state == AttemptState::Authorized),
    Conjunct::carried(Guard::ReservationNotHeld, |_, s, of| s[of.job].reservation != s[of].attempt_worker),
    Conjunct::here(Guard::WorkerUp, |_, s, of| s.up(s[of].attempt_worker)),
    Conjunct::here(Guard::ReachCoordination, |_, s, of| {
        s.can_reach(s[of].attempt_worker, Service::Coordination)
    }),
];

/// Its effect, and nothing else.
#[doc(alias = "ActivateRefused")]
pub fn activate_refused(_: &Law, s: &mut State, of: Attempt) {
    s[of].attempt_state = AttemptState::Stopped;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Move;
    use crate::machine::fixture::{A, W, World};
    use crate::machine::rows::WorkerState;

    #[test]
    fn it_needs_every_conjunct_and_a_refusal_names_the_false_one() {
        let step = Move::ActivateRefused(A);
        World::lost().needs(
            step,
            &[
                (Guard::AttemptAuthorized, |w| w.attempt().attempt_state = AttemptState::Executing),
                (Guard::ReservationNotHeld, |w| w.job().reservation = Some(W)),
                (Guard::WorkerUp, |w| w.worker().worker_state = WorkerState::Down),
                (Guard::ReachCoordination, |w| w.cut(Service::Coordination)),
            ],
        );
    }
}
