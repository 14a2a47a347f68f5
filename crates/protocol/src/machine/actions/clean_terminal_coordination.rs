//! What coordination still holds of a terminal job goes away. Coordination, driven by the cleaner.
//!
//! Leases are not its matter: `ReleaseLease` ends them, since a zombie may still execute under one.

use crate::guard::Guard;
use crate::machine::conjunct::Conjunct;
use crate::machine::rows::{Job, JobRow};
use crate::machine::rules::Law;
use crate::machine::state::State;

/// What it needs, in the spec's order.
pub static GUARDS: &[Conjunct<Job>] = &[
    Conjunct::elsewhere(Guard::Terminal, |_, s, job| s.terminal(job)),
    Conjunct::here(Guard::SomethingToClean, |_, s, job| something_to_clean(&s[job])),
];

/// Its effect, and nothing else.
#[doc(alias = "CleanTerminalCoordination")]
pub fn clean_terminal_coordination(_: &Law, s: &mut State, job: Job) {
    let row = &mut s[job];
    row.queued = false;
    row.reservation = None;
    row.cancel_notice = false;
    row.live_progress = 0;
    row.live_progress_attempt = None;
}

fn something_to_clean(row: &JobRow) -> bool {
    row.queued
        || row.reservation.is_some()
        || row.cancel_notice
        || row.live_progress != 0
        || row.live_progress_attempt.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Move;
    use crate::machine::fixture::{J, World};
    use crate::phase::Phase;

    #[test]
    fn it_needs_every_conjunct_and_a_refusal_names_the_false_one() {
        let step = Move::CleanTerminalCoordination(J);
        World::queued().with(|w| w.job().phase = Phase::Cancelled).needs(
            step,
            &[
                (Guard::Terminal, |w| w.job().phase = Phase::Queued),
                (Guard::SomethingToClean, |w| w.job().queued = false),
            ],
        );
    }
}
