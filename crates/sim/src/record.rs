//! Everything that happened, with the moment of it: what the rooms and workers record, and what fate did.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use protocol::{Event, EventSink, Room};

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
    /// Coordination's events up to this epoch are those of a state that does not count any more.
    doomed_epoch: u64,
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

    /// An old state of coordination came back: what it does in this epoch is nothing that a trace could explain.
    pub(crate) fn doom(&self, epoch: u64) {
        let mut inside = self.lock();
        inside.doomed_epoch = inside.doomed_epoch.max(epoch);
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
    fn record(&self, event: Event) {
        let now = self.core.now();
        let mut inside = self.lock();
        if event.room == Room::Coordination && event.epoch <= inside.doomed_epoch {
            return;
        }
        inside.all.push((now, Happened::Event(Box::new(event))));
    }
}
