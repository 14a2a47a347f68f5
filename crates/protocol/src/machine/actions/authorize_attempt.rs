//! The claim: allocates the next attempt and its token. Durable, driven by the worker.
//!
//! Promises that a token is given once and that it spends the job's budget, even if the worker is lost
//! before it executes. Does not know whether the reservation still stands; a worker that remembers one may
//! be late.

use crate::guard::Guard;
use crate::machine::conjunct::Conjunct;
use crate::machine::rows::{AttemptState, Job, Service, StageState, Worker};
use crate::machine::rules::{Law, Module};
use crate::machine::state::State;
use crate::phase::Phase;

/// What it needs, in the spec's order.
pub static GUARDS: &[Conjunct<(Job, Worker)>] = &[
    Conjunct::here(Guard::PhaseQueued, |_, s, (job, _)| s[job].phase == Phase::Queued),
    Conjunct::here(Guard::DispatchNeeded, |_, s, (job, _)| s[job].dispatch_needed),
    Conjunct::elsewhere(Guard::ReservationHeld, |_, s, (job, worker): (Job, Worker)| {
        s[job].reservation == Some(worker)
    })
    .only(Module::Remora),
    Conjunct::sender(Guard::TicketHeld, |_, s, (job, worker): (Job, Worker)| s[job].holds_ticket(worker))
        .only(Module::TwoStores),
    Conjunct::sender(Guard::WorkerUp, |_, s, (_, worker)| s.up(Some(worker))),
    Conjunct::sender(Guard::ReachDurable, |_, s, (_, worker)| s.can_reach(Some(worker), Service::Durable)),
    Conjunct::here(Guard::AttemptsLeft, |law, s, (job, _)| s[job].current_token < law.constants.max_attempts),
    Conjunct::here(Guard::AttemptUnused, |_, s, (job, _)| next_is_unused(s, job)),
];

/// Its effect, and nothing else.
#[doc(alias = "AuthorizeAttempt")]
pub fn authorize_attempt(law: &Law, s: &mut State, (job, worker): (Job, Worker)) {
    let of = s.next_attempt(job);
    let row = &mut s[job];
    let resumed = if row.checkpoint_valid { row.checkpoint } else { 0 };
    row.phase = Phase::Running;
    row.current_token = of.token;
    row.authority = Some(of);
    row.dispatch_needed = false;
    row.drop_ticket(worker);
    let attempt = &mut s[of];
    attempt.attempt_state = AttemptState::Authorized;
    attempt.attempt_worker = Some(worker);
    attempt.attempt_progress = resumed;
    attempt.initial_progress = resumed;
    attempt.resumed_from_checkpoint = resumed > 0;
    attempt.stage_state = match resumed {
        0 => StageState::NoStage,
        all if all == law.constants.max_progress => StageState::Complete,
        _ => StageState::Partial,
    };
}

/// `attemptState[a] = AttemptUnused`; a token beyond the last one names no attempt.
fn next_is_unused(s: &State, job: Job) -> bool {
    let of = s.next_attempt(job);
    s.is_attempt(of) && s[of].attempt_state == AttemptState::Unused
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Move;
    use crate::machine::fixture::{J, W, World};
    use crate::machine::rows::WorkerState;

    #[test]
    fn it_needs_every_conjunct_and_a_refusal_names_the_false_one() {
        let step = Move::AuthorizeAttempt(J, W);
        World::reserved().needs(
            step,
            &[
                (Guard::PhaseQueued, |w| w.job().phase = Phase::RetryWait),
                (Guard::DispatchNeeded, |w| w.job().dispatch_needed = false),
                (Guard::ReservationHeld, |w| w.job().reservation = None),
                (Guard::TicketHeld, |w| w.job().ticket.clear()),
                (Guard::WorkerUp, |w| w.worker().worker_state = WorkerState::Down),
                (Guard::ReachDurable, |w| w.cut(Service::Durable)),
                (Guard::AttemptsLeft, |w| w.law.constants.max_attempts = 0),
                (Guard::AttemptUnused, |w| w.attempt().attempt_state = AttemptState::Stopped),
            ],
        );
    }
}
