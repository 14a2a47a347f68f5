//! Replays recorded events on the machine of the spec: is every step that a running program took one that
//! `TwoStores` allows?
//!
//! Promises: a trace is accepted only if, for every job, its events have an order that keeps the order of each
//! store and every edge that the events carry (`judged`, `sent_after`, an actor's own sequence), in which each
//! event is a step of `TwoStores` whose guard holds, with steps in between that nobody records or that a
//! killed process took with it; every invariant and step property is checked after every step. Otherwise the
//! shortest prefix that no order explains is given, and the guard that forbids its last event. What the places
//! of a pool come to is counted over all jobs ([`permits`]).
//! Does not read files, and does not check liveness or a worker's own limit, of which events say nothing. A
//! job that began before the trace did is counted and not judged.
//! The spec speaks of it: `TwoStores.tla` with its once-only bounds lifted, `spec/events.md`; protocol §6.

mod actions;
mod census;
mod failure;
mod gap;
mod node;
pub mod permits;
mod search;
mod trace;
mod workers;

use std::collections::HashMap;

use protocol::{Action, Event, JobId, Outcome, Room};

pub use census::{Census, Head};
pub use failure::{Failure, Why};
use permits::Pool;
use search::Verdict;
use trace::{Fact, Surroundings, Trace};

/// Where an event was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Source {
    /// Which pool; events of different pools have nothing to do with each other.
    pub pool: usize,
    /// Which file of its writer, from the oldest one kept. A process may have been killed between two.
    pub segment: u64,
    /// Whether its writer holds the rooms and records for everybody, as the owner of a data folder does. Otherwise each
    /// process records what it was answered, and one that is killed takes the newest of that with it.
    pub owner: bool,
}

/// What an audit found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// Events read.
    pub events: u64,
    /// Jobs judged.
    pub jobs: u64,
    /// Their attempts.
    pub attempts: u64,
    /// Losses of coordination.
    pub losses: u64,
    /// Steps that no event tells of, put where they explain what follows.
    pub inferred: u64,
    /// Events of workers that nothing recorded by the stores reaches any more.
    pub unplaced: u64,
    /// Jobs not judged, because the trace begins after them.
    pub begun_before: u64,
    /// What no order explains.
    pub failures: Vec<Failure>,
}

/// An audit under way.
pub struct Audit {
    census: Census,
    pools: HashMap<usize, Pool>,
    /// Of pools that many record: to be counted in the pool's order once all are there.
    unordered: HashMap<usize, Vec<Event>>,
    count_permits: bool,
    jobs: HashMap<JobId, Open>,
    report: Report,
}

struct Open {
    facts: Vec<Fact>,
    pool: usize,
}

impl Audit {
    /// An audit of a trace that was counted before, so that a job can be judged and forgotten at its last event.
    #[must_use]
    pub fn new(census: Census) -> Self {
        let report = Report::default();
        Self {
            census,
            pools: HashMap::new(),
            unordered: HashMap::new(),
            count_permits: true,
            jobs: HashMap::new(),
            report,
        }
    }

    /// The same, of a part of the jobs: what the pool's places come to cannot be said.
    #[must_use]
    pub fn without_permits(self) -> Self {
        Self { count_permits: false, ..self }
    }

    /// Takes the next event, in any order of files and in each file's own order.
    pub fn take(&mut self, event: Event, source: Source) {
        let arrival = self.report.events;
        self.report.events += 1;
        if self.count_permits && event.room == Room::Coordination {
            if self.census.has_owner(source.pool) {
                let failure = self.pools.entry(source.pool).or_default().take(&event);
                self.report.failures.extend(failure);
            } else if permits::concerns(&event) {
                self.unordered.entry(source.pool).or_default().push(event.clone());
            }
        }
        let Some(job) = event.job else { return };
        let complete = self.census.seen(job);
        if says_something(&event) {
            let open = self.jobs.entry(job).or_insert_with(|| Open { facts: Vec::new(), pool: source.pool });
            if event.room != Room::Worker {
                open.pool = source.pool;
            }
            open.facts.push(Fact { event, arrival, segment: source.segment });
        }
        if complete && let Some(open) = self.jobs.remove(&job) {
            self.judge(job, open);
        }
    }

    fn judge(&mut self, job: JobId, open: Open) {
        let surroundings = Surroundings {
            last_epoch: self.census.last_epoch(open.pool),
            first_segment: self.census.first_segment(open.pool),
            cut: self.census.was_cut(open.pool),
            census: &self.census,
        };
        let trace = Trace::new(job, open.facts, &surroundings);
        if trace.begun_before {
            self.report.begun_before += 1;
            return;
        }
        self.report.jobs += 1;
        self.report.attempts += u64::from(trace.attempts());
        match search::judge(&trace) {
            Verdict::Explained { inferred, unplaced } => {
                self.report.inferred += inferred;
                self.report.unplaced += unplaced;
            }
            Verdict::Unexplained(failure) => self.report.failures.push(*failure),
        }
    }

    /// Judges what is left, and answers what was found.
    #[must_use]
    pub fn finish(mut self) -> Report {
        let mut left: Vec<_> = std::mem::take(&mut self.jobs).into_iter().collect();
        left.sort_unstable_by_key(|(job, _)| *job);
        for (job, open) in left {
            self.judge(job, open);
        }
        for (pool, mut events) in std::mem::take(&mut self.unordered) {
            events.sort_by_key(|event| (event.epoch, event.order));
            let mut counted = if self.census.was_cut(pool) { Pool::with_gaps() } else { Pool::default() };
            self.report.failures.extend(events.iter().filter_map(|event| counted.take(event)));
        }
        self.report.losses = self.census.losses();
        self.report
    }
}

/// Refusals change nothing, and those of coordination do not even say at which moment of the job they came. Of the refusal
/// of a late copy nobody learns: the outcome that it rejects was rejected or accepted before.
fn says_something(event: &Event) -> bool {
    let refusal = event.outcome != Outcome::Taken || event.action == Action::RejectOutcome;
    if refusal && trace::is_late_copy(event) {
        return false;
    }
    match event.outcome {
        Outcome::Taken => true,
        Outcome::Refused(_) => event.room == Room::Durable && event.order > 0,
    }
}
