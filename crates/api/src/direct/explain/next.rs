//! What comes next, and when.

use protocol::{FailureCause, Phase, Timestamp};

use super::facts::Facts;
use super::living::{Standing, grace_ends, standing};
use super::story::budget;
use super::words::lasting;
use crate::v1::{Because, Expected, ReasonCode};

/// How long a worker gives a cancelled program before it kills it.
const CANCEL_NOTICE_MS: u64 = 10_000;

fn soon(text: impl Into<String>) -> Expected {
    Expected { text: text.into(), at: None }
}

fn at(at: Timestamp, text: impl Into<String>) -> Expected {
    Expected { text: text.into(), at: Some(at.into()) }
}

pub(super) fn expected(facts: &Facts, because: &[Because]) -> Vec<Expected> {
    match facts.view.summary.phase {
        Phase::Queued | Phase::RetryWait => waiting(facts, because),
        Phase::Running => running(facts),
        Phase::Cancelling => cancelling(facts),
        Phase::Succeeded => vec![soon("Nothing: its result stays as it is.")],
        Phase::Failed | Phase::Cancelled => {
            vec![soon("Nothing, unless it is retried: that makes a new job.")]
        }
    }
}

fn waiting(facts: &Facts, because: &[Because]) -> Vec<Expected> {
    let job = &facts.view.summary;
    if job.set_aside.is_some() {
        return vec![soon("Nothing, until it is retried or cancelled.")];
    }
    let mut next = Vec::new();
    if job.due_at > facts.now {
        next.push(at(job.due_at, "It is due and offered to workers."));
    }
    let first = because.iter().find(|reason| reason.code != ReasonCode::NotDue).map(|reason| reason.code);
    let lifted = match first {
        Some(ReasonCode::QueuePaused) => Some("Its queue is resumed."),
        Some(ReasonCode::NoWorker) => Some("A worker that serves it is started."),
        Some(ReasonCode::WorkersDraining) => Some("A worker that serves it and does not drain is started."),
        Some(ReasonCode::NoAgents) => Some("A server is started."),
        Some(ReasonCode::CoordinationAway) => Some("Coordination answers again."),
        Some(ReasonCode::Rebuilding) => Some("Coordination is open again."),
        Some(ReasonCode::GlobalLimit | ReasonCode::WorkersBusy) => {
            Some("One of those that run ends, or the limit is raised.")
        }
        Some(ReasonCode::BehindOthers) => Some("Those before it are taken."),
        _ => None,
    };
    next.extend(lifted.map(soon));
    let token = u64::from(job.token.0) + 1;
    next.push(soon(format!("A worker claims attempt {token} of {}.", job.max_attempts)));
    next
}

/// What follows a failure of the attempt that runs.
fn after_failure(facts: &Facts) -> Expected {
    let job = &facts.view.summary;
    if job.token.0 >= job.max_attempts {
        return soon(format!(
            "If it fails, the job has failed: it was attempt {} of {}.",
            job.token, job.max_attempts
        ));
    }
    let widest = facts.view.spec.retry.after(FailureCause::Failed, job.token.0, 0, u64::MAX);
    soon(format!("If it fails, the next attempt follows within {}; {} left.", lasting(widest), budget(facts)))
}

fn running(facts: &Facts) -> Vec<Expected> {
    let Some(running) = &facts.running else { return Vec::new() };
    let lease_ms = facts.row.lease_ms;
    let mut next = Vec::new();
    match standing(facts, running) {
        Standing::Leased(lease) => {
            next.push(soon("Its result is published when it ends well."));
            let end = facts.now.plus_ms(lease_ms.saturating_sub(lease.age_ms));
            next.push(at(end, "Its lease ends, unless its worker renews it before."));
        }
        Standing::Starting => next.push(soon("It starts under a lease.")),
        Standing::Open => {
            let end = facts.known().filter(|_| facts.settled()).map(|known| grace_ends(facts, known));
            let text = "It is judged lost, unless its worker restores the lease before.";
            next.push(end.map_or_else(|| soon(text), |end| at(end, text)));
        }
        Standing::Lost => {
            next.push(soon("The reaper revokes it."));
            next.push(after_loss(facts));
            return next;
        }
        Standing::Unknown => next
            .push(soon("It goes on for as long as its worker trusts its lease, and ends if that runs out.")),
    }
    if let (Some(timeout), Some(current)) = (facts.view.spec.timeout_ms, facts.current()) {
        next.push(at(current.started_at.plus_ms(timeout), "It is stopped as too long, if it still runs."));
    }
    next.push(after_failure(facts));
    next
}

fn after_loss(facts: &Facts) -> Expected {
    let job = &facts.view.summary;
    if job.token.0 >= job.max_attempts {
        return soon(format!(
            "Then the job has failed: it was attempt {} of {}.",
            job.token, job.max_attempts
        ));
    }
    let lost = |attempt: &&durable::AttemptView| {
        attempt.verdict.is_some_and(|verdict| verdict == protocol::Verdict::Failed(FailureCause::Lost))
    };
    let ended = facts.view.attempts.iter().rev().filter(|attempt| attempt.verdict.is_some());
    let losses = u32::try_from(ended.take_while(lost).count()).unwrap_or(u32::MAX).saturating_add(1);
    let widest = facts.view.spec.retry.after(FailureCause::Lost, job.token.0, losses, u64::MAX);
    soon(format!("The next attempt is due within {} of that; {} left.", lasting(widest), budget(facts)))
}

fn cancelling(facts: &Facts) -> Vec<Expected> {
    let Some(running) = &facts.running else { return Vec::new() };
    let mut next = Vec::new();
    match standing(facts, running) {
        Standing::Leased(_) | Standing::Starting => next.push(soon(format!(
            "The worker ends the program; what has not ended {} after it was told is killed.",
            lasting(CANCEL_NOTICE_MS)
        ))),
        Standing::Lost => next.push(soon("The canceller ends the job as cancelled.")),
        Standing::Open | Standing::Unknown => {}
    }
    if let Some(asked) = running.cancel_requested_at {
        let end = asked.plus_ms(facts.row.lease_ms.saturating_mul(2));
        next.push(at(end, "The job is ended as cancelled, at the latest, while a server runs."));
    }
    next
}
