//! What is to be said of a job that runs, is being cancelled, or has ended.

use coordination::HeldLease;
use durable::RunningAttempt;
use protocol::{Phase, Timestamp};

use super::facts::{Facts, Known, Live};
use super::waiting::{away, capital, name_of, reason, rebuilding, until};
use super::words::{lasting, line, named};
use crate::v1::{Because, Holder, ReasonCode};

/// How an attempt with authority stands in coordination.
pub(super) enum Standing<'facts> {
    /// Under a lease.
    Leased(&'facts HeldLease),
    /// Its worker holds its reservation: it was claimed a moment ago.
    Starting,
    /// Coordination is being rebuilt, or the grace after that has not ended: nothing is known of its lease.
    Open,
    /// It has no lease, or one past its length.
    Lost,
    /// Coordination gives no answer.
    Unknown,
}

pub(super) fn standing<'facts>(facts: &'facts Facts, running: &RunningAttempt) -> Standing<'facts> {
    let Some(known) = facts.known() else { return Standing::Unknown };
    let holding = known.holding.as_ref();
    let lease = holding.and_then(|held| held.leases.iter().find(|lease| lease.attempt == running.attempt));
    if let Some(lease) = lease {
        return if lease.age_ms < known.pool.config.lease_ms {
            Standing::Leased(lease)
        } else {
            Standing::Lost
        };
    }
    let reserved = holding.and_then(|held| held.reservation);
    if reserved.is_some_and(|(_, worker)| worker == running.worker) {
        return Standing::Starting;
    }
    if !facts.settled() || (running.epoch < facts.row.epoch && !known.pool.grace_over) {
        return Standing::Open;
    }
    Standing::Lost
}

/// When the grace of a new epoch ends.
pub(super) fn grace_ends(facts: &Facts, known: &Known) -> Timestamp {
    facts.now.plus_ms(known.pool.config.lease_ms.saturating_sub(known.pool.epoch_age_ms))
}

fn holder(facts: &Facts, running: &RunningAttempt) -> Holder {
    Holder {
        job: Some(running.job),
        attempt: Some(running.token.0),
        worker: Some(running.worker),
        worker_name: name_of(facts.workers(), running.worker),
    }
}

fn held_by(facts: &Facts, running: &RunningAttempt, code: ReasonCode, text: String) -> Because {
    Because { holders: vec![holder(facts, running)], ..reason(code, text) }
}

/// Said of a job whose row names an attempt that is not among those running: its rows do not fit.
fn unlisted(facts: &Facts) -> Vec<Because> {
    let token = facts.view.summary.token;
    let text = format!(
        "Its row says that attempt {token} runs, and that attempt is not among those running: the rows are damaged."
    );
    vec![reason(ReasonCode::Lost, text)]
}

pub(super) fn running(facts: &Facts) -> Vec<Because> {
    let Some(running) = &facts.running else { return unlisted(facts) };
    let who = named(facts.workers(), running.worker);
    let started = facts.current().map_or(0, |current| facts.now.since_ms(current.started_at));
    let runs = format!("Attempt {} has run under {who} for {}", running.token, lasting(started));
    let by = |code, text: String| held_by(facts, running, code, text);
    match standing(facts, running) {
        Standing::Leased(lease) => {
            vec![by(
                ReasonCode::Running,
                format!("{runs}; its lease was renewed {} ago.", lasting(lease.age_ms)),
            )]
        }
        Standing::Starting => vec![by(
            ReasonCode::Running,
            format!("Attempt {} was claimed by {who} and is about to start.", running.token),
        )],
        Standing::Open => {
            vec![by(ReasonCode::Running, format!("{runs}, by the ledger.")), unaccounted(facts)]
        }
        Standing::Unknown => vec![by(ReasonCode::Running, format!("{runs}, by the ledger.")), unknown(facts)],
        Standing::Lost => vec![by(ReasonCode::Lost, lost(running, &who))],
    }
}

fn lost(running: &RunningAttempt, who: &str) -> String {
    format!("Attempt {} has no live lease: {who} is lost. The reaper revokes its authority.", running.token)
}

/// Why nothing is known of a lease: nobody or no answer.
fn unknown(facts: &Facts) -> Because {
    match &facts.live {
        Live::Away(why) => away(why),
        Live::Nobody | Live::Known(_) => reason(
            ReasonCode::NoAgents,
            "No server runs: no process owns the data folder, so nothing renews, ends or reaps the attempt.",
        ),
    }
}

fn unaccounted(facts: &Facts) -> Because {
    let Some(known) = facts.known() else { return unknown(facts) };
    if let Some(rebuilding) = rebuilding(facts, known) {
        return rebuilding;
    }
    let text = format!(
        "Coordination was rebuilt {} ago, in epoch {}: the attempt's worker may restore its lease until the grace ends.",
        lasting(known.pool.epoch_age_ms),
        facts.row.epoch
    );
    until(reason(ReasonCode::Rebuilding, text), grace_ends(facts, known))
}

pub(super) fn cancelling(facts: &Facts) -> Vec<Because> {
    let Some(running) = &facts.running else { return unlisted(facts) };
    let who = named(facts.workers(), running.worker);
    let since = running.cancel_requested_at.map_or(0, |at| running.now.since_ms(at));
    let asked = format!("A cancel was asked for {} ago", lasting(since));
    let notice = facts.known().and_then(|known| known.holding.as_ref()).is_some_and(|held| held.notice);
    let told = if notice { "has been told" } else { "is about to be told" };
    let by = |text: String| held_by(facts, running, ReasonCode::Stopping, text);
    match standing(facts, running) {
        Standing::Leased(_) | Standing::Starting => {
            vec![by(format!("{asked}; {who} {told} to stop attempt {}.", running.token))]
        }
        Standing::Open => {
            vec![by(format!("{asked}; attempt {} ran under {who}.", running.token)), unaccounted(facts)]
        }
        Standing::Unknown => {
            vec![by(format!("{asked}; attempt {} ran under {who}.", running.token)), unknown(facts)]
        }
        Standing::Lost => vec![
            by(format!(
                "{asked}; attempt {} has no live lease, so the canceller ends the job.",
                running.token
            )),
            held_by(facts, running, ReasonCode::Lost, format!("{} is lost.", capital(&who))),
        ],
    }
}

pub(super) fn ended(facts: &Facts) -> Because {
    let job = &facts.view.summary;
    let ago = job.finished_at.map_or(0, |at| facts.now.since_ms(at));
    let text = match job.phase {
        Phase::Succeeded => {
            format!("It succeeded {} ago: attempt {} published its result.", lasting(ago), job.token)
        }
        Phase::Cancelled => format!("It was cancelled {} ago; nothing of it is published.", lasting(ago)),
        _ => {
            let error = job.error.as_deref().map(|error| format!(": {}", line(error))).unwrap_or_default();
            format!("It failed {} ago, at attempt {} of {}{error}", lasting(ago), job.token, job.max_attempts)
        }
    };
    reason(ReasonCode::Ended, text)
}
