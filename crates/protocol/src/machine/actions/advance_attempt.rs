//! The attempt writes to its own stage. Target, driven by the handler.
//!
//! Asks for no authority: zombies may write, that is the point. Isolation by attempt keeps it harmless.

use crate::guard::Guard;
use crate::machine::conjunct::Conjunct;
use crate::machine::rows::{Attempt, AttemptState, Service, StageState};
use crate::machine::rules::Law;
use crate::machine::state::State;

/// What it needs, in the spec's order.
pub static GUARDS: &[Conjunct<(Attempt, u16)>] = &[
    Conjunct::sender(Guard::AttemptExecuting, |_, s, (of, _)| s[of].attempt_state == AttemptState::Executing),
    Conjunct::sender(Guard::WorkerUp, |_, s, (of, _)| s.up(s[of].attempt_worker)),
    Conjunct::sender(Guard::ReachTarget, |_, s, (of, _)| s.can_reach(s[of].attempt_worker, Service::Target)),
    Conjunct::carried(Guard::AmountInRange, |law, _, (_, amount)| {
        (1..=law.constants.max_progress).contains(&amount)
    }),
    Conjunct::here(Guard::AmountAdvances, |_, s, (of, amount)| amount > s[of].attempt_progress),
];

/// Its effect, and nothing else.
#[doc(alias = "AdvanceAttempt")]
pub fn advance_attempt(law: &Law, s: &mut State, (of, amount): (Attempt, u16)) {
    let complete = amount == law.constants.max_progress;
    s[of].attempt_progress = amount;
    s[of].stage_state = if complete { StageState::Complete } else { StageState::Partial };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Move;
    use crate::machine::fixture::{A, World};
    use crate::machine::rows::WorkerState;

    #[test]
    fn it_needs_every_conjunct_and_a_refusal_names_the_false_one() {
        let step = Move::AdvanceAttempt(A, 2);
        World::executing().needs(
            step,
            &[
                (Guard::AttemptExecuting, |w| w.attempt().attempt_state = AttemptState::Stopped),
                (Guard::WorkerUp, |w| w.worker().worker_state = WorkerState::Down),
                (Guard::ReachTarget, |w| w.cut(Service::Target)),
                (Guard::AmountInRange, |w| w.law.constants.max_progress = 1),
                (Guard::AmountAdvances, |w| w.attempt().attempt_progress = 2),
            ],
        );
    }
}
