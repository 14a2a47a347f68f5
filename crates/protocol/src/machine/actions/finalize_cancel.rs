//! The attempt of a cancelling job loses its authority. Durable, driven by the worker and the canceller.
//!
//! Cancelled means that publication is forbidden, not that the process is quiet.

use crate::guard::Guard;
use crate::machine::conjunct::Conjunct;
use crate::machine::rows::Job;
use crate::machine::rules::Law;
use crate::machine::state::State;
use crate::phase::Phase;

/// What it needs, in the spec's order.
pub static GUARDS: &[Conjunct<Job>] =
    &[Conjunct::here(Guard::PhaseCancelling, |_, s, job| s[job].phase == Phase::Cancelling)];

/// Its effect, and nothing else.
#[doc(alias = "FinalizeCancel")]
pub fn finalize_cancel(_: &Law, s: &mut State, job: Job) {
    s[job].phase = Phase::Cancelled;
    s[job].authority = None;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Move;
    use crate::machine::fixture::{J, World};

    #[test]
    fn it_needs_every_conjunct_and_a_refusal_names_the_false_one() {
        let step = Move::FinalizeCancel(J);
        World::executing()
            .with(|w| w.job().phase = Phase::Cancelling)
            .needs(step, &[(Guard::PhaseCancelling, |w| w.job().phase = Phase::Running)]);
    }
}
