//! A worker process dies, and with it what it executes and remembers. Driven by the world.
//!
//! Leaves its lease, its permit and its stage behind for others to clear.

use crate::guard::Guard;
use crate::machine::conjunct::Conjunct;
use crate::machine::rows::{AttemptState, Worker, WorkerState};
use crate::machine::rules::Law;
use crate::machine::state::State;

/// What it needs, in the spec's order.
pub static GUARDS: &[Conjunct<Worker>] = &[
    Conjunct::here(Guard::FaultEnabled, |law, _, _| law.constants.faults_enabled),
    Conjunct::here(Guard::WorkerUp, |_, s, worker| s.up(Some(worker))),
];

/// Its effect, and nothing else.
#[doc(alias = "CrashWorker")]
pub fn crash_worker(_: &Law, s: &mut State, worker: Worker) {
    s[worker].worker_state = WorkerState::Down;
    for row in &mut s.attempts {
        let alive = matches!(row.attempt_state, AttemptState::Authorized | AttemptState::Executing);
        if alive && row.attempt_worker == Some(worker) {
            row.attempt_state = AttemptState::Stopped;
        }
    }
    for row in &mut s.jobs {
        row.drop_ticket(worker);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Move;
    use crate::machine::fixture::{W, World};

    #[test]
    fn it_needs_every_conjunct_and_a_refusal_names_the_false_one() {
        let step = Move::CrashWorker(W);
        World::executing().needs(
            step,
            &[
                (Guard::FaultEnabled, |w| w.law.constants.faults_enabled = false),
                (Guard::WorkerUp, |w| w.worker().worker_state = WorkerState::Down),
            ],
        );
    }
}
