//! The worker is told of a cancel. Coordination, driven by the canceller.
//!
//! A request for cancel stays, so the notice is never wrong.

use crate::guard::Guard;
use crate::machine::conjunct::Conjunct;
use crate::machine::rows::Job;
use crate::machine::rules::Law;
use crate::machine::state::State;

/// What it needs, in the spec's order.
pub static GUARDS: &[Conjunct<Job>] = &[
    Conjunct::elsewhere(Guard::CancelRequested, |_, s, job| s[job].cancel_requested),
    Conjunct::here(Guard::NotNoticed, |_, s, job| !s[job].cancel_notice),
];

/// Its effect, and nothing else.
#[doc(alias = "PublishCancelNotice")]
pub fn publish_cancel_notice(_: &Law, s: &mut State, job: Job) {
    s[job].cancel_notice = true;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Move;
    use crate::machine::fixture::{J, World};

    #[test]
    fn it_needs_every_conjunct_and_a_refusal_names_the_false_one() {
        let step = Move::PublishCancelNotice(J);
        World::executing().with(|w| w.job().cancel_requested = true).needs(
            step,
            &[
                (Guard::CancelRequested, |w| w.job().cancel_requested = false),
                (Guard::NotNoticed, |w| w.job().cancel_notice = true),
            ],
        );
    }
}
