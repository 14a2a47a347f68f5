//! The refused answer to an outcome. Durable, driven by the worker's outcome: the same statement as the two
//! that accept.
//!
//! Promises that a verdict that cannot be accepted changes nothing; the worker learns the guard that refused
//! it.

use super::{accept_failure, accept_success};
use crate::guard::Guard;
use crate::machine::conjunct::Conjunct;
use crate::machine::rows::Attempt;
use crate::machine::rules::Law;
use crate::machine::state::State;

/// What it needs, in the spec's order.
pub static GUARDS: &[Conjunct<Attempt>] = &[
    Conjunct::sender(Guard::OutcomePending, |_, s, of| s[of].pending_outcome.is_some()),
    Conjunct::here(Guard::OutcomeNotAcceptable, |_, s, of| {
        !accept_success::eligible(s, of) && !accept_failure::eligible(s, of)
    }),
];

/// Its effect, and nothing else.
#[doc(alias = "RejectOutcome")]
pub fn reject_outcome(_: &Law, s: &mut State, of: Attempt) {
    s[of].pending_outcome = None;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Move;
    use crate::machine::fixture::{A, World};
    use crate::machine::rows::Wants;

    #[test]
    fn it_needs_every_conjunct_and_a_refusal_names_the_false_one() {
        let step = Move::RejectOutcome(A);
        World::wants(Wants::Success).with(|w| w.job().authority = None).needs(
            step,
            &[
                (Guard::OutcomePending, |w| w.attempt().pending_outcome = None),
                (Guard::OutcomeNotAcceptable, |w| w.job().authority = Some(A)),
            ],
        );
    }
}
