//! Progress that people see. Coordination, driven by the worker; display only.
//!
//! Authority may have turned false; what is shown goes away with the lease.

use super::shared;
use crate::guard::Guard;
use crate::machine::conjunct::Conjunct;
use crate::machine::rows::{Attempt, AttemptState, LeaseState, Service};
use crate::machine::rules::{Law, Module};
use crate::machine::state::State;
use crate::phase::Phase;

/// What it needs, in the spec's order.
pub static GUARDS: &[Conjunct<Attempt>] = &[
    Conjunct::elsewhere(Guard::Authority, |_, s, of: Attempt| s.current_authority(of)).only(Module::Remora),
    Conjunct::elsewhere(Guard::PhaseRunning, |_, s, of: Attempt| s[of.job].phase == Phase::Running)
        .only(Module::Remora),
    Conjunct::here(Guard::LeaseLive, |_, s, of| s[of].lease_state == LeaseState::Live),
    Conjunct::sender(Guard::AttemptExecuting, |_, s, of| s[of].attempt_state == AttemptState::Executing),
    Conjunct::sender(Guard::WorkerUp, |_, s, of| s.up(s[of].attempt_worker)),
    Conjunct::sender(Guard::ReachCoordination, |_, s, of| {
        s.can_reach(s[of].attempt_worker, Service::Coordination)
    }),
    Conjunct::here(Guard::ProgressChanged, |_, s, of| changed(s, of)),
];

/// Its effect, and nothing else.
#[doc(alias = "ReportProgress")]
pub fn report_progress(_: &Law, s: &mut State, of: Attempt) {
    shared::show_progress(s, of);
}

fn changed(s: &State, of: Attempt) -> bool {
    let row = &s[of.job];
    row.live_progress != s[of].attempt_progress || row.live_progress_attempt != Some(of)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Move;
    use crate::machine::fixture::{A, World};
    use crate::machine::rows::WorkerState;

    #[test]
    fn it_needs_every_conjunct_and_a_refusal_names_the_false_one() {
        let step = Move::ReportProgress(A);
        World::complete().needs(
            step,
            &[
                (Guard::Authority, |w| w.job().authority = None),
                (Guard::PhaseRunning, |w| w.job().phase = Phase::Cancelling),
                (Guard::LeaseLive, |w| w.attempt().lease_state = LeaseState::Expired),
                (Guard::AttemptExecuting, |w| w.attempt().attempt_state = AttemptState::Stopped),
                (Guard::WorkerUp, |w| w.worker().worker_state = WorkerState::Down),
                (Guard::ReachCoordination, |w| w.cut(Service::Coordination)),
                (Guard::ProgressChanged, |w| w.job().live_progress = 2),
            ],
        );
    }
}
