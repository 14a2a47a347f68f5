//! The attempts whose spans are open.
//!
//! Promises: bounded, whatever never ends: over the bound the oldest is forgotten, and what is told of it later has no
//! queue and kind.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use opentelemetry::KeyValue;
use opentelemetry::trace::Event as SpanEvent;
use opentelemetry_sdk::trace::SpanEvents;
use protocol::{AttemptId, Incarnation, JobId, Token};

/// Attempts at once: more than a worker has slots, or a folder's owner permits.
const MOST: usize = 10_000;
/// Events of one span.
const EVENTS: usize = 100;

/// An attempt from its claim on.
#[derive(Debug, Clone)]
pub(crate) struct Open {
    pub(crate) job: JobId,
    pub(crate) attempt: AttemptId,
    pub(crate) token: Token,
    pub(crate) worker: Incarnation,
    pub(crate) queue: Arc<str>,
    pub(crate) kind: Arc<str>,
    pub(crate) since: SystemTime,
    pub(crate) events: SpanEvents,
    /// It has been told that its lease is lost.
    pub(crate) lost: bool,
}

#[derive(Debug, Default)]
pub(crate) struct Attempts(Mutex<BTreeMap<AttemptId, Open>>);

impl Attempts {
    fn all(&self) -> MutexGuard<'_, BTreeMap<AttemptId, Open>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn begin(&self, open: Open) {
        let mut all = self.all();
        all.entry(open.attempt).or_insert(open);
        while all.len() > MOST {
            // Ids made later sort later.
            all.pop_first();
        }
    }

    pub(crate) fn end(&self, attempt: AttemptId) -> Option<Open> {
        self.all().remove(&attempt)
    }

    /// Queue and kind, where the claim was seen here.
    pub(crate) fn place(&self, attempt: AttemptId) -> Option<(Arc<str>, Arc<str>)> {
        self.all().get(&attempt).map(|open| (Arc::clone(&open.queue), Arc::clone(&open.kind)))
    }

    pub(crate) fn is_lost(&self, attempt: AttemptId) -> bool {
        self.all().get(&attempt).is_some_and(|open| open.lost)
    }

    pub(crate) fn lose(&self, attempt: AttemptId) {
        if let Some(open) = self.all().get_mut(&attempt) {
            open.lost = true;
        }
    }

    pub(crate) fn note(&self, attempt: AttemptId, name: &'static str, attributes: Vec<KeyValue>) {
        let mut all = self.all();
        let Some(open) = all.get_mut(&attempt) else { return };
        if open.events.events.len() < EVENTS {
            open.events.events.push(SpanEvent::new(name, SystemTime::now(), attributes, 0));
        } else {
            open.events.dropped_count += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(attempt: u128) -> Open {
        Open {
            job: JobId(1),
            attempt: AttemptId(attempt),
            token: Token(1),
            worker: Incarnation(1),
            queue: "q".into(),
            kind: "k".into(),
            since: SystemTime::UNIX_EPOCH,
            events: SpanEvents::default(),
            lost: false,
        }
    }

    #[test]
    fn over_the_bound_the_oldest_is_forgotten() {
        let attempts = Attempts::default();
        let more = u128::try_from(MOST).unwrap() + 5;
        (0..more).for_each(|attempt| attempts.begin(open(attempt)));
        assert!(attempts.place(AttemptId(4)).is_none() && attempts.place(AttemptId(5)).is_some());
        assert_eq!(attempts.all().len(), MOST);
    }

    #[test]
    fn an_attempt_with_ten_thousand_checkpoints_keeps_a_hundred_events_and_counts_the_rest() {
        let attempts = Attempts::default();
        attempts.begin(open(1));
        (0..10_000).for_each(|_| attempts.note(AttemptId(1), "checkpoint", Vec::new()));
        let events = attempts.end(AttemptId(1)).unwrap().events;
        assert_eq!((events.events.len(), events.dropped_count), (EVENTS, 9_900));
    }
}
