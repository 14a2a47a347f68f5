//! From here on nothing of the job will be published. Durable, driven by the API.
//!
//! Ends a job that no attempt has authority over at once; otherwise the attempt is told.

use crate::guard::Guard;
use crate::machine::conjunct::Conjunct;
use crate::machine::rows::Job;
use crate::machine::rules::Law;
use crate::machine::state::State;
use crate::phase::Phase;

/// What it needs, in the spec's order.
pub static GUARDS: &[Conjunct<Job>] = &[Conjunct::here(Guard::Cancellable, |_, s, job| {
    matches!(s[job].phase, Phase::Queued | Phase::Running | Phase::RetryWait)
})];

/// Its effect, and nothing else.
#[doc(alias = "RequestCancel")]
pub fn request_cancel(_: &Law, s: &mut State, job: Job) {
    let row = &mut s[job];
    row.cancel_requested = true;
    row.dispatch_needed = false;
    if row.phase == Phase::Running {
        row.phase = Phase::Cancelling;
    } else {
        row.phase = Phase::Cancelled;
        row.authority = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Move;
    use crate::machine::fixture::{J, World};

    #[test]
    fn it_needs_every_conjunct_and_a_refusal_names_the_false_one() {
        let step = Move::RequestCancel(J);
        World::executing().needs(step, &[(Guard::Cancellable, |w| w.job().phase = Phase::Cancelling)]);
    }
}
