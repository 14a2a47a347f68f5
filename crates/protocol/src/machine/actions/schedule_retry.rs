//! A job whose retry is due is queued again. Durable, driven by the retry scheduler.
//!
//! When it is due is not the spec's matter: the room adds that guard on its own clock.

use crate::guard::Guard;
use crate::machine::conjunct::Conjunct;
use crate::machine::rows::Job;
use crate::machine::rules::Law;
use crate::machine::state::State;
use crate::phase::Phase;

/// What it needs, in the spec's order.
pub static GUARDS: &[Conjunct<Job>] =
    &[Conjunct::here(Guard::PhaseRetryWait, |_, s, job| s[job].phase == Phase::RetryWait)];

/// Its effect, and nothing else.
#[doc(alias = "ScheduleRetry")]
pub fn schedule_retry(_: &Law, s: &mut State, job: Job) {
    s[job].phase = Phase::Queued;
    s[job].dispatch_needed = true;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Move;
    use crate::machine::fixture::{J, World};

    #[test]
    fn it_needs_every_conjunct_and_a_refusal_names_the_false_one() {
        let step = Move::ScheduleRetry(J);
        World::executing()
            .with(|w| w.job().phase = Phase::RetryWait)
            .needs(step, &[(Guard::PhaseRetryWait, |w| w.job().phase = Phase::Failed)]);
    }
}
