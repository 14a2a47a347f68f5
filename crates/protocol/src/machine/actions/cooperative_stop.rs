//! The attempt's process tree is ended. Worker memory, driven by the worker.
//!
//! Any one of four signals suffices: the lease has ended, a notice, the cancel read in durable, authority
//! lost.

use crate::guard::Guard;
use crate::machine::conjunct::Conjunct;
use crate::machine::rows::{Attempt, AttemptState, LeaseState, Service};
use crate::machine::rules::Law;
use crate::machine::state::State;

/// What it needs, in the spec's order.
pub static GUARDS: &[Conjunct<Attempt>] = &[
    Conjunct::here(Guard::AttemptExecuting, |_, s, of| s[of].attempt_state == AttemptState::Executing),
    Conjunct::carried(Guard::StopSignal, |_, s, of| told_to_stop(s, of)),
];

/// Its effect, and nothing else.
#[doc(alias = "CooperativeStop")]
pub fn cooperative_stop(_: &Law, s: &mut State, of: Attempt) {
    s[of].attempt_state = AttemptState::Stopped;
}

fn told_to_stop(s: &State, of: Attempt) -> bool {
    let reads_cancel = || s.can_reach(s[of].attempt_worker, Service::Durable) && s[of.job].cancel_requested;
    s[of].lease_state == LeaseState::Expired
        || s[of.job].cancel_notice
        || reads_cancel()
        || !s.current_authority(of)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Move;
    use crate::machine::fixture::{A, World};

    #[test]
    fn it_needs_every_conjunct_and_a_refusal_names_the_false_one() {
        let step = Move::CooperativeStop(A);
        World::executing().with(|w| w.job().cancel_notice = true).needs(
            step,
            &[
                (Guard::AttemptExecuting, |w| w.attempt().attempt_state = AttemptState::Stopped),
                (Guard::StopSignal, |w| w.job().cancel_notice = false),
            ],
        );
    }
}
