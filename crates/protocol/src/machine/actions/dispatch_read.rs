//! A dispatcher reads a job as dispatchable. A read of durable, driven by the dispatcher; `TwoStores` only.
//!
//! What it saw may be old when `Enqueue` acts on it.

use crate::guard::Guard;
use crate::machine::conjunct::Conjunct;
use crate::machine::rows::Job;
use crate::machine::rules::Law;
use crate::machine::state::State;
use crate::phase::Phase;

/// What it needs, in the spec's order.
pub static GUARDS: &[Conjunct<Job>] = &[
    Conjunct::here(Guard::PhaseQueued, |_, s, job| s[job].phase == Phase::Queued),
    Conjunct::here(Guard::DispatchNeeded, |_, s, job| s[job].dispatch_needed),
    Conjunct::sender(Guard::NotDispatchSeen, |_, s, job| !s[job].dispatch_seen),
];

/// Its effect, and nothing else.
#[doc(alias = "DispatchRead")]
pub fn dispatch_read(_: &Law, s: &mut State, job: Job) {
    s[job].dispatch_seen = true;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Move;
    use crate::machine::fixture::{J, World};

    #[test]
    fn it_needs_every_conjunct_and_a_refusal_names_the_false_one() {
        let step = Move::DispatchRead(J);
        World::new().needs(
            step,
            &[
                (Guard::PhaseQueued, |w| w.job().phase = Phase::Failed),
                (Guard::DispatchNeeded, |w| w.job().dispatch_needed = false),
                (Guard::NotDispatchSeen, |w| w.job().dispatch_seen = true),
            ],
        );
    }
}
