//! A worker can no longer reach a service. Driven by the world.
//!
//! Each link is cut once in the model; a cut link says nothing about the other two.

use crate::guard::Guard;
use crate::machine::conjunct::Conjunct;
use crate::machine::rows::{LinkState, Service, Worker};
use crate::machine::rules::{Law, Once};
use crate::machine::state::State;

/// What it needs, in the spec's order.
pub static GUARDS: &[Conjunct<(Worker, Service)>] = &[
    Conjunct::here(Guard::FaultEnabled, |law, _, (_, service)| law.constants.fault(service)),
    Conjunct::here(Guard::WorkerUp, |_, s, (worker, _)| s.up(Some(worker))),
    Conjunct::here(Guard::LinkState, |law, s, (worker, service)| {
        can_be_cut(law, s[worker].links[service.index()])
    }),
];

/// Its effect, and nothing else.
#[doc(alias = "DropLink")]
pub fn drop_link(_: &Law, s: &mut State, (worker, service): (Worker, Service)) {
    s[worker].links[service.index()] = LinkState::Down;
}

fn can_be_cut(law: &Law, link: LinkState) -> bool {
    match law.rules.once {
        Once::Bounded => link == LinkState::Up,
        Once::Lifted => link != LinkState::Down,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Move;
    use crate::machine::fixture::{W, World};
    use crate::machine::rows::WorkerState;

    #[test]
    fn it_needs_every_conjunct_and_a_refusal_names_the_false_one() {
        let step = Move::DropLink(W, Service::Coordination);
        World::executing().needs(
            step,
            &[
                (Guard::FaultEnabled, |w| w.law.constants.faults_enabled = false),
                (Guard::WorkerUp, |w| w.worker().worker_state = WorkerState::Down),
                (Guard::LinkState, |w| w.worker().links[0] = LinkState::Recovered),
            ],
        );
    }
}
