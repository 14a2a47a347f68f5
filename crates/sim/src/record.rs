//! Everything that happened, with the moment of it: what the rooms and workers record, and what fate did.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use protocol::{Action, ActorId, Event, EventSink, Outcome};
use tokio::sync::Notify;

use crate::core::Core;

/// One thing that happened.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Happened {
    /// An action, as recorded.
    Event(Box<Event>),
    /// A fault, or its end.
    Fate(String),
}

/// A thing and its moment.
pub(crate) type Dated = (Duration, Happened);

/// The record.
pub(crate) struct Record {
    core: Arc<Core>,
    inside: Mutex<Inside>,
}

#[derive(Default)]
struct Inside {
    all: Vec<Dated>,
    wrong: Vec<String>,
    /// How much there was when an old state of coordination came back.
    explained: Option<usize>,
    /// Which worker an actor is.
    workers: BTreeMap<ActorId, usize>,
    /// What is recorded now is of a request whose answer its actor had at this number of its own.
    answered_before: Option<u64>,
    /// Who waits for a worker to reach a point.
    armed: Vec<(usize, Point, Arc<Notify>)>,
}

/// A point in an attempt's life at which a worker that stops becomes a zombie with something to say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Point {
    /// A job was, for it.
    Reserved,
    /// A job was, by it.
    Claimed,
    /// The parts of a checkpoint are sealed.
    Sealed,
    /// The row of a checkpoint is on its way.
    Storing,
    /// The work is done.
    Done,
    /// What came of it is on its way.
    Sending,
}

impl Record {
    pub(crate) fn new(core: &Arc<Core>) -> Arc<Self> {
        Arc::new(Self { core: Arc::clone(core), inside: Mutex::default() })
    }

    fn lock(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Fate did something.
    pub(crate) fn fate(&self, text: impl Into<String>) {
        let now = self.core.now();
        self.lock().all.push((now, Happened::Fate(text.into())));
    }

    /// Something that must not be.
    pub(crate) fn wrong(&self, text: impl Into<String>) {
        let text = text.into();
        self.fate(format!("WRONG: {text}"));
        self.lock().wrong.push(text);
    }

    /// This actor is that worker.
    pub(crate) fn is_worker(&self, actor: ActorId, worker: usize) {
        self.lock().workers.insert(actor, worker);
    }

    /// What is recorded from here on is of a copy of a request that was answered when its actor was at this number.
    pub(crate) fn answered_before(&self, number: Option<u64>) {
        self.lock().answered_before = number;
    }

    /// Rung when this worker reaches that point.
    pub(crate) fn arm(&self, worker: usize, point: Point) -> Arc<Notify> {
        let bell = Arc::new(Notify::new());
        self.lock().armed.push((worker, point, Arc::clone(&bell)));
        bell
    }

    /// A worker has reached a point.
    pub(crate) fn reached(&self, worker: usize, point: Point) {
        let mut inside = self.lock();
        for (_, _, bell) in inside.armed.extract_if(.., |(of, at, _)| *of == worker && *at == point) {
            bell.notify_one();
        }
    }

    /// An old state of coordination came back. What follows from it is no step of the spec.
    pub(crate) fn restored(&self) {
        let mut inside = self.lock();
        inside.explained = inside.explained.or(Some(inside.all.len()));
    }

    /// How much of the record, from its beginning, the spec must explain.
    pub(crate) fn explained(&self) -> usize {
        let inside = self.lock();
        inside.explained.unwrap_or(inside.all.len())
    }

    /// What was wrong so far.
    pub(crate) fn found(&self) -> Vec<String> {
        self.lock().wrong.clone()
    }

    /// The whole record.
    pub(crate) fn take(&self) -> Vec<Dated> {
        std::mem::take(&mut self.lock().all)
    }
}

impl EventSink for Record {
    fn record(&self, mut event: Event) {
        let now = self.core.now();
        let point = match (event.action, event.outcome) {
            (Action::Reserve, Outcome::Taken) => Some(Point::Reserved),
            (Action::AuthorizeAttempt, Outcome::Taken) => Some(Point::Claimed),
            (Action::AdvanceAttempt, _) if event.detail.progress.is_some() => Some(Point::Storing),
            (Action::SendOutcome, _) => Some(Point::Sending),
            _ => None,
        };
        let worker = self.lock().workers.get(&event.actor).copied();
        if let (Some(worker), Some(point)) = (worker, point) {
            self.reached(worker, point);
        }
        let mut inside = self.lock();
        event.answered_before = event.answered_before.or(inside.answered_before);
        inside.all.push((now, Happened::Event(Box::new(event))));
    }
}
