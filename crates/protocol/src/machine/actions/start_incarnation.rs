//! A worker process starts, under a new incarnation. Worker memory, driven by the supervisor.
//!
//! An incarnation is never used again: a restarted process renews nothing of the dead one.

use crate::guard::Guard;
use crate::machine::conjunct::Conjunct;
use crate::machine::rows::{Worker, WorkerState};
use crate::machine::rules::Law;
use crate::machine::state::State;

/// What it needs, in the spec's order.
pub static GUARDS: &[Conjunct<Worker>] =
    &[Conjunct::here(Guard::WorkerUnused, |_, s, worker| s[worker].worker_state == WorkerState::Unused)];

/// Its effect, and nothing else.
#[doc(alias = "StartIncarnation")]
pub fn start_incarnation(_: &Law, s: &mut State, worker: Worker) {
    s[worker].worker_state = WorkerState::Up;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Move;
    use crate::machine::fixture::{W, World};

    #[test]
    fn it_needs_every_conjunct_and_a_refusal_names_the_false_one() {
        let step = Move::StartIncarnation(W);
        World::executing()
            .with(|w| w.worker().worker_state = WorkerState::Unused)
            .needs(step, &[(Guard::WorkerUnused, |w| w.worker().worker_state = WorkerState::Down)]);
    }
}
