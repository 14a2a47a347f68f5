//! A worker whose claim was refused hands its permit back. Coordination, driven by the worker; `TwoStores`
//! only.
//!
//! One of the two hand-back rules without which nobody may be able to move. Takes back only its own permit.

use crate::guard::Guard;
use crate::machine::conjunct::Conjunct;
use crate::machine::rows::{Job, Service, Worker};
use crate::machine::rules::Law;
use crate::machine::state::State;
use crate::phase::Phase;

/// What it needs, in the spec's order.
pub static GUARDS: &[Conjunct<(Job, Worker)>] = &[
    Conjunct::sender(Guard::TicketHeld, |_, s, (job, worker)| s[job].holds_ticket(worker)),
    Conjunct::sender(Guard::WorkerUp, |_, s, (_, worker)| s.up(Some(worker))),
    Conjunct::sender(Guard::ReachDurable, |_, s, (_, worker)| s.can_reach(Some(worker), Service::Durable)),
    Conjunct::sender(Guard::ReachCoordination, |_, s, (_, worker)| {
        s.can_reach(Some(worker), Service::Coordination)
    }),
    Conjunct::elsewhere(Guard::ClaimImpossible, |law, s, (job, _)| !claimable(law, s, job)),
];

/// Its effect, and nothing else.
#[doc(alias = "ClaimRefused")]
pub fn claim_refused(_: &Law, s: &mut State, (job, worker): (Job, Worker)) {
    let row = &mut s[job];
    row.drop_ticket(worker);
    if row.reservation == Some(worker) {
        row.reservation = None;
    }
}

fn claimable(law: &Law, s: &State, job: Job) -> bool {
    let row = &s[job];
    row.phase == Phase::Queued && row.dispatch_needed && row.current_token < law.constants.max_attempts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Move;
    use crate::machine::fixture::{J, W, World};
    use crate::machine::rows::WorkerState;

    #[test]
    fn it_needs_every_conjunct_and_a_refusal_names_the_false_one() {
        let step = Move::ClaimRefused(J, W);
        World::reserved().with(|w| w.job().phase = Phase::Cancelled).needs(
            step,
            &[
                (Guard::TicketHeld, |w| w.job().ticket.clear()),
                (Guard::WorkerUp, |w| w.worker().worker_state = WorkerState::Down),
                (Guard::ReachDurable, |w| w.cut(Service::Durable)),
                (Guard::ReachCoordination, |w| w.cut(Service::Coordination)),
                (Guard::ClaimImpossible, |w| w.job().phase = Phase::Queued),
            ],
        );
    }
}
