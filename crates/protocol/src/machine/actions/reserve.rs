//! A queue entry becomes a permit of one worker. Coordination, driven by the worker.
//!
//! Promises that the limits hold. A permit is not authority. The worker's own limit counts what really
//! executes, zombies too, which coordination cannot see: the worker asks only while its slots are free.

use super::shared;
use crate::guard::Guard;
use crate::machine::conjunct::Conjunct;
use crate::machine::rows::{Job, Service, Worker};
use crate::machine::rules::{Law, Module};
use crate::machine::state::State;

/// What it needs, in the spec's order.
pub static GUARDS: &[Conjunct<(Job, Worker)>] = &[
    Conjunct::here(Guard::Queued, |_, s, (job, _)| s[job].queued),
    Conjunct::here(Guard::NotReserved, |_, s, (job, _)| s[job].reservation.is_none()),
    Conjunct::sender(Guard::WorkerUp, |_, s, (_, worker)| s.up(Some(worker))),
    Conjunct::sender(Guard::ReachCoordination, |_, s, (_, worker)| {
        s.can_reach(Some(worker), Service::Coordination)
    }),
    Conjunct::here(Guard::GlobalLimit, |law, s, _| shared::global_place(law, s)),
    Conjunct::carried(Guard::LocalLimit, |law, s, (_, worker)| {
        s.slots_in_use(worker) < usize::from(law.constants.local_limit)
    }),
];

/// Its effect, and nothing else.
#[doc(alias = "Reserve")]
pub fn reserve(law: &Law, s: &mut State, (job, worker): (Job, Worker)) {
    s[job].queued = false;
    s[job].reservation = Some(worker);
    if law.rules.module == Module::TwoStores {
        s[job].add_ticket(worker);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Move;
    use crate::machine::fixture::{J, V, W, World};
    use crate::machine::rows::{LeaseState, WorkerState};

    #[test]
    fn it_needs_every_conjunct_and_a_refusal_names_the_false_one() {
        let step = Move::Reserve(J, W);
        World::queued().needs(
            step,
            &[
                (Guard::Queued, |w| w.job().queued = false),
                (Guard::NotReserved, |w| w.job().reservation = Some(V)),
                (Guard::WorkerUp, |w| w.worker().worker_state = WorkerState::Down),
                (Guard::ReachCoordination, |w| w.cut(Service::Coordination)),
                (Guard::GlobalLimit, |w| w.second().lease_state = LeaseState::Live),
                (Guard::LocalLimit, |w| w.second_executes_on(W)),
            ],
        );
    }
}
