//! The attempt's verdict is on its way. Worker memory, driven by the worker.
//!
//! Sending and deciding are two steps, so that a verdict may arrive late and stale.

use crate::guard::Guard;
use crate::machine::conjunct::Conjunct;
use crate::machine::rows::{Attempt, AttemptState, Service, StageState, Wants};
use crate::machine::rules::Law;
use crate::machine::state::State;

/// What it needs, in the spec's order.
pub static GUARDS: &[Conjunct<(Attempt, Wants)>] = &[
    Conjunct::here(Guard::AttemptExecuting, |_, s, (of, _)| s[of].attempt_state == AttemptState::Executing),
    Conjunct::here(Guard::NoOutcomePending, |_, s, (of, _)| s[of].pending_outcome.is_none()),
    Conjunct::here(Guard::WorkerUp, |_, s, (of, _)| s.up(s[of].attempt_worker)),
    Conjunct::here(Guard::ReachDurable, |_, s, (of, _)| s.can_reach(s[of].attempt_worker, Service::Durable)),
    Conjunct::carried(Guard::StageComplete, |_, s, (of, wants)| {
        wants == Wants::Failure || s[of].stage_state == StageState::Complete
    }),
];

/// Its effect, and nothing else.
#[doc(alias = "SendOutcome")]
pub fn send_outcome(_: &Law, s: &mut State, (of, wants): (Attempt, Wants)) {
    s[of].pending_outcome = Some(wants);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Move;
    use crate::machine::fixture::{A, World};
    use crate::machine::rows::WorkerState;

    #[test]
    fn it_needs_every_conjunct_and_a_refusal_names_the_false_one() {
        let step = Move::SendOutcome(A, Wants::Success);
        World::complete().needs(
            step,
            &[
                (Guard::AttemptExecuting, |w| w.attempt().attempt_state = AttemptState::Stopped),
                (Guard::NoOutcomePending, |w| w.attempt().pending_outcome = Some(Wants::Failure)),
                (Guard::WorkerUp, |w| w.worker().worker_state = WorkerState::Down),
                (Guard::ReachDurable, |w| w.cut(Service::Durable)),
                (Guard::StageComplete, |w| w.attempt().stage_state = StageState::Partial),
            ],
        );
    }
}
