//! Why a job that waits for an attempt does not run.

use std::time::Duration;

use coordination::WorkerView;
use protocol::{Phase, Timestamp};

use super::facts::{Before, Facts, Known, Live};
use super::words::{lasting, list, many, named};
use crate::v1::{Because, Holder, Moment, ReasonCode};

/// Holders that are named.
const HOLDERS: usize = 10;

pub(super) fn reason(code: ReasonCode, text: impl Into<String>) -> Because {
    Because { code, text: text.into(), holders: Vec::new(), until: None }
}

pub(super) fn until(because: Because, at: Timestamp) -> Because {
    Because { until: Some(at.into()), ..because }
}

pub(super) fn away(why: &str) -> Because {
    reason(ReasonCode::CoordinationAway, format!("Coordination gives no answer: {why}."))
}

pub(super) fn reasons(facts: &Facts) -> Vec<Because> {
    let job = &facts.view.summary;
    if let Some(why) = &job.set_aside {
        let text =
            format!("Its row was set aside and is not offered until it is retried or cancelled: {why}.");
        return vec![reason(ReasonCode::SetAside, text)];
    }
    let mut because = Vec::new();
    if job.due_at > facts.now {
        because.push(not_due(facts));
    }
    match &facts.live {
        Live::Nobody => because.push(nobody()),
        Live::Away(why) => because.push(away(why)),
        Live::Known(known) => {
            if let Some(reserved) = reserved(known) {
                return vec![reserved];
            }
            because.extend(rebuilding(facts, known));
        }
    }
    if facts.row.paused.contains(&job.queue) {
        because.push(reason(ReasonCode::QueuePaused, format!("Queue {} is paused.", job.queue)));
    }
    // What a pool that has lost its state knows of workers and windows says nothing.
    if let Some(known) = facts.known().filter(|_| facts.settled()) {
        because.extend(unserved(facts, known));
        if job.due_at <= facts.now && !because.iter().any(|because| serves_nobody(because.code)) {
            in_line(facts, known, &mut because);
        }
    }
    because
}

fn serves_nobody(code: ReasonCode) -> bool {
    matches!(code, ReasonCode::NoWorker | ReasonCode::WorkersDraining | ReasonCode::Rebuilding)
}

fn not_due(facts: &Facts) -> Because {
    let job = &facts.view.summary;
    let (at, left) = (Moment(job.due_at), lasting(job.due_at.since_ms(facts.now)));
    let text = match job.phase {
        Phase::RetryWait => format!(
            "Attempt {} failed; attempt {} of {} is due at {at}, in {left}.",
            job.token,
            u64::from(job.token.0) + 1,
            job.max_attempts
        ),
        _ => format!("It is not due before {at}, in {left}."),
    };
    until(reason(ReasonCode::NotDue, text), job.due_at)
}

fn nobody() -> Because {
    let text = "No server runs: no process owns the data folder, so nothing offers or runs its jobs.";
    reason(ReasonCode::NoAgents, text)
}

fn reserved(known: &Known) -> Option<Because> {
    let (_, worker) = known.holding.as_ref()?.reservation?;
    let text = format!(
        "{} holds a reservation for it and is about to claim it.",
        capital(&named(&known.workers, worker))
    );
    let mut reserved = reason(ReasonCode::Reserved, text);
    reserved.holders.push(Holder {
        job: None,
        attempt: None,
        worker: Some(worker),
        worker_name: name_of(&known.workers, worker),
    });
    Some(reserved)
}

pub(super) fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

pub(super) fn name_of(workers: &[WorkerView], worker: protocol::Incarnation) -> Option<String> {
    let view = workers.iter().find(|view| view.registration.worker == worker)?;
    Some(view.registration.name.clone())
}

/// Coordination has lost its state, or was not told yet that it is complete.
pub(super) fn rebuilding(facts: &Facts, known: &Known) -> Option<Because> {
    if facts.settled() {
        return None;
    }
    let (ours, theirs) = (facts.row.epoch, known.pool.mark.epoch);
    let text = match theirs == ours {
        true => {
            format!("Coordination is being rebuilt in epoch {ours}: nothing is started until it is open.")
        }
        false => format!(
            "Coordination has lost its state: the durable store is at epoch {ours}, coordination at {theirs}. \
             A server rebuilds it; nothing is started until then."
        ),
    };
    Some(reason(ReasonCode::Rebuilding, text))
}

/// Nobody serves its window, or nobody who takes new work.
fn unserved(facts: &Facts, known: &Known) -> Option<Because> {
    let window = facts.window();
    let all = &known.workers;
    let serving: Vec<_> = all.iter().filter(|view| view.registration.serves(&window)).collect();
    if serving.iter().any(|view| !view.registration.draining) {
        return None;
    }
    if !serving.is_empty() {
        let names = list(serving.iter().map(|view| view.registration.name.as_str()));
        let (kind, queue) = (&window.kind, &window.queue);
        let text = format!("All workers that serve kind {kind} in queue {queue} drain: {names}.");
        return Some(Because { holders: workers(&serving), ..reason(ReasonCode::WorkersDraining, text) });
    }
    // Workers register every third of a lease: until then a rebuilt pool does not know them.
    if known.pool.epoch_age_ms < known.pool.config.lease_ms / 3 {
        let age = lasting(known.pool.epoch_age_ms);
        let text = format!("Coordination was rebuilt {age} ago and hears of its workers in a moment.");
        return Some(reason(ReasonCode::Rebuilding, text));
    }
    let mut served: Vec<String> = all.iter().map(|view| serves(&view.registration)).collect();
    served.sort_unstable();
    served.dedup();
    let text = match all.len() {
        0 => format!(
            "No worker serves kind {} in queue {}: no worker is registered.",
            window.kind, window.queue
        ),
        _ => format!(
            "No worker serves kind {} in queue {}: {} registered, serving {}.",
            window.kind,
            window.queue,
            many(all.len(), "worker is", "workers are"),
            list(served.iter().map(String::as_str)),
        ),
    };
    Some(reason(ReasonCode::NoWorker, text))
}

fn serves(registration: &coordination::Registration) -> String {
    let kinds = list(registration.kinds.iter().map(String::as_str));
    match &registration.queues {
        None => format!("{kinds} in all queues"),
        Some(queues) => format!("{kinds} in {}", list(queues.iter().map(String::as_str))),
    }
}

fn workers(views: &[&WorkerView]) -> Vec<Holder> {
    let holder = |view: &&WorkerView| Holder {
        job: None,
        attempt: None,
        worker: Some(view.registration.worker),
        worker_name: Some(view.registration.name.clone()),
    };
    views.iter().take(HOLDERS).map(holder).collect()
}

fn leases(views: &[&WorkerView]) -> Vec<Holder> {
    let holders = views.iter().flat_map(|view| {
        view.attempts.iter().map(|held| Holder {
            job: Some(held.job),
            attempt: Some(held.token.0),
            worker: Some(held.worker),
            worker_name: Some(view.registration.name.clone()),
        })
    });
    holders.take(HOLDERS).collect()
}

/// What a job that is due and served waits for.
fn in_line(facts: &Facts, known: &Known, because: &mut Vec<Because>) {
    because.extend(limited(known));
    because.extend(busy(facts, known));
    if facts.view.summary.phase == Phase::RetryWait {
        let text =
            format!("Its retry has been due for {} and is queued in a moment.", lasting(facts.waited_ms()));
        because.push(reason(ReasonCode::NotOffered, text));
    } else if known.entries(&facts.window()) == 0 {
        let text = format!("It has been due for {} and is offered in a moment.", lasting(facts.waited_ms()));
        because.push(reason(ReasonCode::NotOffered, text));
    } else if let Some(behind) = behind(facts, known) {
        because.push(behind);
    } else if because.is_empty() {
        let text = "It is offered, first in its window: a worker with a free place takes it in a moment.";
        because.push(reason(ReasonCode::Offered, text));
    }
}

fn limited(known: &Known) -> Option<Because> {
    let pool = &known.pool;
    let used = pool.leases + pool.reservations + pool.unaccounted;
    let limit = pool.config.global_limit;
    if u64::try_from(used).is_ok_and(|used| used < u64::from(limit)) {
        return None;
    }
    let mut parts = vec![format!("{} running", pool.leases)];
    if pool.reservations > 0 {
        parts.push(format!("{} reserved", pool.reservations));
    }
    if pool.unaccounted > 0 {
        parts.push(format!("{} not accounted for after a loss of coordination", pool.unaccounted));
    }
    let text =
        format!("The pool's limit of {} is reached: {}.", many(limit, "place", "places"), parts.join(", "));
    let all: Vec<_> = known.workers.iter().collect();
    Some(Because { holders: leases(&all), ..reason(ReasonCode::GlobalLimit, text) })
}

fn busy(facts: &Facts, known: &Known) -> Option<Because> {
    let window = facts.window();
    let taking = |view: &&WorkerView| view.registration.serves(&window) && !view.registration.draining;
    let taking: Vec<_> = known.workers.iter().filter(taking).collect();
    let used = |view: &WorkerView| {
        let reserved = known.reserved.get(&view.registration.worker).copied().unwrap_or(0);
        u64::try_from(view.attempts.len()).unwrap_or(u64::MAX).saturating_add(u64::from(reserved))
    };
    if taking.iter().any(|view| used(view) < u64::from(view.registration.slots)) {
        return None;
    }
    let slots: u64 = taking.iter().map(|view| u64::from(view.registration.slots)).sum();
    let text = format!(
        "All {} of {} that {} its queue and kind are taken: {}.",
        many(slots, "place", "places"),
        many(taking.len(), "worker", "workers"),
        if taking.len() == 1 { "serves" } else { "serve" },
        list(taking.iter().map(|view| view.registration.name.as_str())),
    );
    Some(Because { holders: leases(&taking), ..reason(ReasonCode::WorkersBusy, text) })
}

fn behind(facts: &Facts, known: &Known) -> Option<Because> {
    let window = facts.window();
    let preferred = known.preferred(&window);
    // A job that was reserved and not claimed yet has left the window, and is in the outbox still.
    let others = known.entries(&window).saturating_sub(1);
    let before = match facts.before {
        Before { jobs, more: false } => Before { jobs: jobs.min(others), more: false },
        many => many,
    };
    if before.jobs == 0 && preferred == 0 {
        return None;
    }
    let mut parts = Vec::new();
    if before.jobs > 0 {
        let least = if before.more { "at least " } else { "" };
        parts.push(format!(
            "{least}{} before it in queue {}, kind {}, priority {}",
            many(before.jobs, "due job stands", "due jobs stand"),
            window.queue,
            window.kind,
            window.priority.0
        ));
    }
    if preferred > 0 {
        parts.push(format!("{} of a higher priority", many(preferred, "job is", "jobs are")));
    }
    Some(reason(ReasonCode::BehindOthers, format!("{}.", capital(&parts.join("; ")))))
}

/// Nobody answered the request to look: that decides, whatever else holds it up.
pub(super) fn nobody_offers(facts: &Facts, asked: Duration, because: &mut Vec<Because>) {
    because.retain(|reason| reason.code != ReasonCode::NotOffered);
    let text = format!(
        "No server offers it: it has been due for {}, and none did so within {} s of being asked.",
        lasting(facts.waited_ms()),
        asked.as_secs()
    );
    because.insert(0, reason(ReasonCode::NoAgents, text));
}
