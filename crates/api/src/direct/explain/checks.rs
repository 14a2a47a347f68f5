//! The spec's invariants on what the rooms hold of one job.
//!
//! The job is laid out as a state of the spec with one job in it, and the spec's own formulas are asked. What the formulas
//! cannot see in such a state (two tokens that are alike, the pool's places, the bytes of the result) is counted here.

use std::fmt;

use durable::{AttemptView, Checkpoint};
use protocol::machine::{
    Attempt, AttemptRow, AttemptState, Constants, INVARIANTS, Job, LeaseState, StageState, State, Worker,
};
use protocol::{AttemptId, Incarnation, Phase, Verdict};

use super::facts::{Facts, Known};
use crate::v1::Check;

/// How the published result lies on the target.
pub(super) enum Laid {
    /// There is none.
    None,
    /// As its manifest says, as far as it was looked at.
    Whole { looked_at: usize, of: usize },
    /// Not so, for this reason.
    Damaged(String),
    /// The target gave no answer.
    Away(String),
}

impl fmt::Display for Laid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("there is no result"),
            Self::Whole { looked_at, of } => {
                write!(f, "{looked_at} of {of} parts were looked at, and are there at their length")
            }
            Self::Damaged(why) => write!(f, "the result is not as its manifest says: {why}"),
            Self::Away(why) => write!(f, "the target gives no answer: {why}"),
        }
    }
}

/// What the invariants are evaluated on.
pub(super) struct Evidence<'rooms> {
    pub(super) facts: &'rooms Facts,
    pub(super) checkpoint: Option<&'rooms Checkpoint>,
    /// Whether the outbox offers the job now.
    pub(super) offered: bool,
    pub(super) laid: &'rooms Laid,
}

const J: Job = Job(0);

/// A number of a row as the model counts.
fn small(number: impl TryInto<u16>) -> u16 {
    number.try_into().unwrap_or(u16::MAX)
}

pub(super) fn evaluate(evidence: &Evidence<'_>) -> Vec<Check> {
    let (constants, state) = laid_out(evidence);
    INVARIANTS
        .iter()
        .map(|invariant| {
            let law = (invariant.holds)(&constants, &state);
            let (holds, text) = judge(evidence, invariant.name, law);
            Check { name: invariant.name.to_owned(), holds, text }
        })
        .collect()
}

/// The job as a state of the spec.
fn laid_out(evidence: &Evidence<'_>) -> (Constants, State) {
    let facts = evidence.facts;
    let (view, summary) = (&facts.view, &facts.view.summary);
    let mut workers: Vec<Incarnation> = view.attempts.iter().map(|attempt| attempt.worker).collect();
    let reservation = facts.known().and_then(|known| known.holding.as_ref()?.reservation);
    workers.extend(reservation.map(|(_, worker)| worker));
    workers.sort_unstable();
    workers.dedup();
    let worker = |of: Incarnation| Worker(small(workers.binary_search(&of).unwrap_or(workers.len())));
    let tokens = view.attempts.iter().map(|attempt| attempt.token.0);
    let constants = Constants {
        workers: small(workers.len().max(1)),
        initial_workers: small(workers.len().max(1)),
        max_attempts: small(tokens.chain([summary.max_attempts, summary.token.0, 1]).max().unwrap_or(1)),
        max_progress: u16::MAX,
        lease_limit: u16::MAX,
        local_limit: u16::MAX,
        global_limit: u16::MAX,
        ..Constants::ONE
    };
    let mut state = State::initial(&constants);
    let place = |token: u32| Attempt { job: J, token: small(token) };
    let row = &mut state[J];
    row.phase = summary.phase;
    row.cancel_requested = match summary.phase {
        Phase::Cancelled => true,
        _ => facts.running.as_ref().is_some_and(|running| running.cancel_requested_at.is_some()),
    };
    row.current_token = small(summary.token.0);
    row.authority = facts.running.as_ref().map(|running| place(running.token.0));
    row.dispatch_needed = in_outbox(evidence).unwrap_or(true);
    row.committed_attempt = view.result.as_ref().map(|result| place(result.token.0));
    row.checkpoint = evidence.checkpoint.map_or(0, |checkpoint| small(checkpoint.progress));
    row.checkpoint_valid = evidence.checkpoint.is_some();
    row.reservation = reservation.map(|(_, holder)| worker(holder));
    for attempt in &view.attempts {
        let of = place(attempt.token.0);
        if state.is_attempt(of) {
            state[of] =
                AttemptRow { attempt_worker: Some(worker(attempt.worker)), ..row_of(evidence, attempt) };
        }
    }
    (constants, state)
}

fn row_of(evidence: &Evidence<'_>, attempt: &AttemptView) -> AttemptRow {
    let leased = has_lease(evidence.facts.known(), attempt.attempt);
    let committed =
        evidence.facts.view.result.as_ref().is_some_and(|result| result.attempt == attempt.attempt);
    let sealed = evidence.checkpoint.filter(|checkpoint| checkpoint.attempt == attempt.attempt);
    let initial = small(attempt.resumed_from);
    AttemptRow {
        attempt_state: match (attempt.verdict, leased) {
            (Some(Verdict::Succeeded), _) => AttemptState::Committed,
            // A lease without authority is taken for a zombie: whether it executes is known to its worker only.
            (_, true) => AttemptState::Executing,
            (None, false) => AttemptState::Authorized,
            (Some(_), false) => AttemptState::Stopped,
        },
        attempt_progress: sealed.map_or(initial, |checkpoint| small(checkpoint.progress)),
        initial_progress: initial,
        resumed_from_checkpoint: attempt.resumed_from > 0,
        stage_state: match (committed, evidence.laid) {
            (true, Laid::Damaged(_)) => StageState::Partial,
            (true, _) => StageState::Complete,
            (false, _) => StageState::NoStage,
        },
        lease_state: if leased { LeaseState::Live } else { LeaseState::NoLease },
        ..AttemptRow::UNUSED
    }
}

fn has_lease(known: Option<&Known>, attempt: AttemptId) -> bool {
    let holding = known.and_then(|known| known.holding.as_ref());
    holding.is_some_and(|held| held.leases.iter().any(|lease| lease.attempt == attempt))
}

/// Whether the outbox has the job; `None` where the rooms do not tell: it is not due.
fn in_outbox(evidence: &Evidence<'_>) -> Option<bool> {
    let job = &evidence.facts.view.summary;
    match evidence.offered || job.set_aside.is_some() {
        true => Some(true),
        false if job.phase == Phase::Queued && job.due_at > evidence.facts.now => None,
        false => Some(false),
    }
}

/// What an invariant says of the job; `law` is what the spec's formula says.
fn judge(evidence: &Evidence<'_>, name: &str, law: bool) -> (Option<bool>, String) {
    let facts = evidence.facts;
    let (job, attempts) = (&facts.view.summary, &facts.view.attempts);
    let told = |text: String| (Some(law), text);
    match name {
        "TypeOK" => match &job.set_aside {
            Some(why) => (Some(false), format!("its row cannot be used: {why}")),
            None => told(format!(
                "token {} of at most {}, {} in the ledger",
                job.token,
                job.max_attempts,
                attempts.len()
            )),
        },
        "StateConsistency" => {
            let unended =
                attempts.iter().filter(|attempt| attempt.verdict.is_none()).map(|attempt| attempt.attempt);
            let fits = unended.eq(facts.running.iter().map(|running| running.attempt));
            let running =
                facts.running.as_ref().map_or_else(|| "none".to_owned(), |running| running.token.to_string());
            (Some(law && fits), format!("phase {}, attempt with authority: {running}", job.phase))
        }
        "AtMostOneAuthoritativeAttempt" => {
            let open = attempts.iter().filter(|attempt| attempt.verdict.is_none()).count();
            (Some(law && open <= 1), format!("{open} of {} attempts have no end", attempts.len()))
        }
        "FencingTokensUnique" => {
            let rising =
                attempts.iter().zip(attempts.iter().skip(1)).all(|(one, next)| one.token < next.token);
            (Some(law && rising), format!("tokens rise from attempt to attempt, up to {}", job.token))
        }
        "CommittedResultConsistent" | "AttemptIsolation" => committed(evidence, law),
        "CancellationSafety" => {
            let has = if facts.view.result.is_some() { "a result is" } else { "no result is" };
            told(format!("phase {}; {has} published", job.phase))
        }
        "PermitSafety" => permits(facts),
        "QueueRecoverable" => match in_outbox(evidence) {
            None => (None, "it is not due, and the outbox tells only of what is".to_owned()),
            Some(has) => {
                told(format!("phase {}, in the outbox: {}", job.phase, if has { "yes" } else { "no" }))
            }
        },
        "ResumeValidity" => told("every attempt began where a checkpoint was, or at the start".to_owned()),
        "ZombieIsolation" => zombies(facts, law),
        _ => told(String::new()),
    }
}

fn committed(evidence: &Evidence<'_>, law: bool) -> (Option<bool>, String) {
    let holds = if let Laid::Away(_) = evidence.laid { None } else { Some(law) };
    (holds, evidence.laid.to_string())
}

fn zombies(facts: &Facts, law: bool) -> (Option<bool>, String) {
    let Some(known) = facts.known() else {
        return (None, "coordination gives no answer".to_owned());
    };
    let authority = facts.running.as_ref().map(|running| running.attempt);
    let held = known.holding.as_ref().map(|held| held.leases.as_slice()).unwrap_or_default();
    let zombies = held.iter().filter(|lease| Some(lease.attempt) != authority).count();
    (Some(law), format!("{zombies} of {} leases are of attempts without authority", held.len()))
}

fn permits(facts: &Facts) -> (Option<bool>, String) {
    let Some(known) = facts.known() else {
        return (None, "coordination gives no answer".to_owned());
    };
    let pool = &known.pool;
    let used = pool.leases + pool.reservations + pool.unaccounted;
    let limit = pool.config.global_limit;
    let within = u64::try_from(used).is_ok_and(|used| used <= u64::from(limit));
    let text = format!("{used} of {limit} places are in use");
    match within {
        true => (Some(true), text),
        // Lowering a limit kills nothing.
        false => {
            (Some(false), format!("{text}: either the limit was lowered and drains, or too many were given"))
        }
    }
}
