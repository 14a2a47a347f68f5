//! A worker can reach a service again. Driven by the world.
//!
//! The model assumes that it comes (weak fairness); nothing of safety rests on it.

use crate::guard::Guard;
use crate::machine::conjunct::Conjunct;
use crate::machine::rows::{LinkState, Service, Worker};
use crate::machine::rules::Law;
use crate::machine::state::State;

/// What it needs, in the spec's order.
pub static GUARDS: &[Conjunct<(Worker, Service)>] =
    &[Conjunct::here(Guard::LinkState, |_, s, (worker, service)| {
        s[worker].links[service.index()] == LinkState::Down
    })];

/// Its effect, and nothing else.
#[doc(alias = "RestoreLink")]
pub fn restore_link(_: &Law, s: &mut State, (worker, service): (Worker, Service)) {
    s[worker].links[service.index()] = LinkState::Recovered;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Move;
    use crate::machine::fixture::{W, World};

    #[test]
    fn it_needs_every_conjunct_and_a_refusal_names_the_false_one() {
        let step = Move::RestoreLink(W, Service::Coordination);
        World::executing()
            .with(|w| w.cut(Service::Coordination))
            .needs(step, &[(Guard::LinkState, |w| w.worker().links[0] = LinkState::Recovered)]);
    }
}
