//! A trace as a story that can be read without the spec at hand.

use std::fmt::Write as _;

use protocol::machine::{Law, LeaseState, Move, State, moves};

use crate::explore::Found;
use crate::fairness::fairness_of;
use crate::liveness::Lasso;

/// One step in words.
#[must_use]
pub fn sentence(step: Move) -> String {
    match step {
        Move::Enqueue(job) => format!("the dispatcher puts {job} into its window"),
        Move::Reserve(job, worker) => format!("{worker} is given the permit of {job}"),
        Move::AuthorizeAttempt(job, worker) => format!("{worker} claims the next attempt of {job}"),
        Move::ActivateAttempt(of) => format!("{of} becomes active: its permit turns into a lease"),
        Move::RenewLease(of) => format!("the lease of {of} is renewed"),
        Move::Tick => "time passes".to_owned(),
        Move::ExpireLease(of) => format!("the lease of {of} ends by age"),
        Move::LoseCoordinationState => "coordination loses everything".to_owned(),
        Move::DropLink(worker, service) => format!("{worker} can no longer reach {service}"),
        Move::RestoreLink(worker, service) => format!("{worker} reaches {service} again"),
        Move::CrashWorker(worker) => format!("{worker} dies"),
        Move::StartIncarnation(worker) => format!("{worker} starts"),
        Move::ReleaseReservation(job) => format!("the useless permit of {job} is taken back"),
        Move::ReapLostAttempt(of) => format!("{of} is reaped: it loses its authority"),
        Move::ScheduleRetry(job) => format!("the retry of {job} is due: it is queued again"),
        Move::RequestCancel(job) => format!("somebody cancels {job}"),
        Move::FinalizeCancel(job) => format!("the cancel of {job} is final"),
        Move::PublishCancelNotice(job) => format!("a notice tells the worker of {job} of the cancel"),
        Move::CooperativeStop(of) => format!("{of} is stopped by its worker"),
        Move::ReleaseLease(of) => format!("the lease of {of} is given back"),
        Move::CleanTerminalCoordination(job) => format!("coordination forgets {job}"),
        Move::AdvanceAttempt(of, amount) => format!("{of} writes its stage up to {amount}"),
        Move::PersistCheckpoint(of) => format!("{of} stores a checkpoint"),
        Move::InvalidateCheckpoint(job) => format!("the checkpoint of {job} is found bad"),
        Move::ReportProgress(of) => format!("{of} reports its progress"),
        Move::SendOutcome(of, wants) => format!("{of} sends its verdict: {wants}"),
        Move::AcceptSuccess(of) => format!("the result of {of} is published"),
        Move::AcceptFailure(of) => format!("{of} is recorded as failed"),
        Move::RejectOutcome(of) => format!("the verdict of {of} is refused"),
        Move::CleanupStage(of) => format!("the stage of {of} is deleted"),
        Move::DispatchRead(job) => format!("a dispatcher reads {job} as dispatchable"),
        Move::ClaimRefused(job, worker) => format!("{worker}, refused, hands back the permit of {job}"),
        Move::ActivateRefused(of) => format!("{of} is stopped by its worker, whose activation was refused"),
        Move::ReapObserve(of) => format!("a reaper sees {of} without lease and permit"),
        Move::RestoreLease(of) => format!("the lease of {of} is put back"),
        Move::FalseSuspicion(job) => format!("the permit of {job} is dropped by age, wrongly"),
    }
}

/// The steps, one a line, numbered, each also as the spec writes it.
#[must_use]
pub fn steps(trace: &[Move]) -> String {
    let mut text = String::new();
    for (number, step) in (1..).zip(trace) {
        let call = step.to_string();
        let _ = writeln!(text, "{number:>4}. {call:<34} {}", sentence(*step));
    }
    text
}

/// A violated invariant or step property as a story.
#[must_use]
pub fn of_violation(found: &Found) -> String {
    format!("{} is violated:\n{}", found.property, steps(&found.trace))
}

/// A fair behaviour that breaks a liveness property as a story.
#[must_use]
pub fn of_lasso(law: &Law, lasso: &Lasso) -> String {
    let mut text = format!("{} is violated:\n{}", lasso.property, steps(&lasso.trace));
    if lasso.steps.is_empty() {
        text += "and there it stays:\n";
    } else {
        let names: Vec<_> = lasso.steps.iter().map(ToString::to_string).collect();
        let _ = writeln!(text, "and round it goes among {} states, by {}:", lasso.states, names.join(", "));
    }
    text += &standing(&lasso.at);
    let bound = moves(law, &lasso.at).into_iter().filter(|step| fairness_of(law, *step).is_some());
    let bound: Vec<_> = bound.map(|step| step.to_string()).collect();
    if bound.is_empty() {
        text += "      nobody is bound to take any step that is left\n";
    } else {
        let _ = writeln!(text, "      steps somebody is bound to take: {}", bound.join(", "));
    }
    text
}

/// Where everything stands, as far as it matters for who can move.
fn standing(s: &State) -> String {
    let mut text = String::new();
    for (job, row) in s.job_ids().zip(&s.jobs) {
        let _ = write!(text, "      {job}: {}", row.phase);
        if let Some(of) = row.authority {
            let _ = write!(text, ", authority {of}");
        }
        if row.queued {
            text += ", in its window";
        }
        if let Some(worker) = row.reservation {
            let _ = write!(text, ", permit held by {worker}");
        }
        for worker in &row.ticket {
            let _ = write!(text, ", {worker} remembers a permit");
        }
        text += "\n";
    }
    for (of, row) in s.attempt_ids().zip(&s.attempts) {
        if let Some(worker) = row.attempt_worker {
            let lease = if row.lease_state == LeaseState::Live { "with a lease" } else { "without a lease" };
            let _ = writeln!(text, "      {of}: {} on {worker}, {lease}", row.attempt_state);
        }
    }
    text
}
