//! A permit nobody will use is taken back. Coordination, driven by the reaper and the worker.
//!
//! What makes it useless stays true, but the permit judged must be the one taken back: compare it exactly.

use crate::guard::Guard;
use crate::machine::conjunct::Conjunct;
use crate::machine::rows::{Attempt, AttemptState, Job};
use crate::machine::rules::Law;
use crate::machine::state::State;
use crate::phase::Phase;

/// What it needs, in the spec's order.
pub static GUARDS: &[Conjunct<Job>] = &[
    Conjunct::here(Guard::ReservationHeld, |_, s, job| s[job].reservation.is_some()),
    Conjunct::elsewhere(Guard::ReservationUseless, |_, s, job| useless(s, job)),
];

/// Its effect, and nothing else.
#[doc(alias = "ReleaseReservation")]
pub fn release_reservation(_: &Law, s: &mut State, job: Job) {
    s[job].reservation = None;
}

fn useless(s: &State, job: Job) -> bool {
    let row = &s[job];
    let under_way = |of: Attempt| s[of].attempt_state != AttemptState::Authorized;
    row.phase.is_terminal()
        || row.phase == Phase::Cancelling
        || !s.up(row.reservation)
        || row.authority.is_some_and(under_way)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Move;
    use crate::machine::fixture::{J, World};

    #[test]
    fn it_needs_every_conjunct_and_a_refusal_names_the_false_one() {
        let step = Move::ReleaseReservation(J);
        World::reserved().with(|w| w.job().phase = Phase::Cancelled).needs(
            step,
            &[
                (Guard::ReservationHeld, |w| w.job().reservation = None),
                (Guard::ReservationUseless, |w| w.job().phase = Phase::Queued),
            ],
        );
    }
}
