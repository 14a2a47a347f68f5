//! The outbox's row becomes a queue entry. Coordination, driven by the dispatcher.
//!
//! Promises that a job is queued at most once and not beside a reservation of its own. Does not promise that
//! the job is still dispatchable: that was read earlier and may have turned false; the claim finds out.
//! Duplicate dispatch changes nothing.

use crate::guard::Guard;
use crate::machine::conjunct::Conjunct;
use crate::machine::rows::Job;
use crate::machine::rules::{Law, Module};
use crate::machine::state::State;
use crate::phase::Phase;

/// What it needs, in the spec's order.
pub static GUARDS: &[Conjunct<Job>] = &[
    Conjunct::elsewhere(Guard::PhaseQueued, |_, s, job: Job| s[job].phase == Phase::Queued)
        .only(Module::Remora),
    Conjunct::elsewhere(Guard::DispatchNeeded, |_, s, job: Job| s[job].dispatch_needed).only(Module::Remora),
    Conjunct::sender(Guard::DispatchSeen, |_, s, job: Job| s[job].dispatch_seen).only(Module::TwoStores),
    Conjunct::here(Guard::NotQueued, |_, s, job: Job| !s[job].queued).only(Module::Remora),
    Conjunct::here(Guard::NotReserved, |_, s, job: Job| s[job].reservation.is_none()).only(Module::Remora),
];

/// Its effect, and nothing else.
#[doc(alias = "Enqueue")]
pub fn enqueue(law: &Law, s: &mut State, job: Job) {
    match law.rules.module {
        Module::Remora => s[job].queued = true,
        Module::TwoStores => {
            let row = &mut s[job];
            row.dispatch_seen = false;
            row.queued |= row.reservation.is_none();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Move;
    use crate::machine::fixture::{J, V, World};

    #[test]
    fn it_needs_every_conjunct_and_a_refusal_names_the_false_one() {
        let step = Move::Enqueue(J);
        World::dispatch_read().needs(
            step,
            &[
                (Guard::PhaseQueued, |w| w.job().phase = Phase::Failed),
                (Guard::DispatchNeeded, |w| w.job().dispatch_needed = false),
                (Guard::DispatchSeen, |w| w.job().dispatch_seen = false),
                (Guard::NotQueued, |w| w.job().queued = true),
                (Guard::NotReserved, |w| w.job().reservation = Some(V)),
            ],
        );
    }
}
