//! Queue windows: per (queue, kind, priority) the jobs that wait for a place, in the order of their positions.
//!
//! Promises: a job is in one window at most; nothing is evicted, a full window refuses; finding the first
//! entry and taking one out is logarithmic. Does not know who may be served.
//! The spec speaks of it as `queued`; protocol rule 6 gives the bounds.

use std::collections::BTreeMap;
use std::sync::Arc;

use protocol::{JobId, Position, Priority, Window, limit};

use crate::{Enqueue, WindowState};

type Entries = BTreeMap<(Position, JobId), u64>;

/// An entry taken out of its window.
pub(super) struct Entry {
    pub(super) job: JobId,
    pub(super) window: Arc<Window>,
    pub(super) checkpoint_revision: u64,
}

/// What the named windows offer.
pub(super) enum Offer {
    /// This job's entry is the first.
    First(JobId),
    /// There are entries, all of them in paused queues.
    Paused,
    /// There are none.
    Nothing,
}

/// All windows of the pool.
#[derive(Clone, Default)]
pub(super) struct Windows {
    entries: BTreeMap<Arc<Window>, Entries>,
    jobs: BTreeMap<JobId, (Arc<Window>, Position)>,
}

impl Windows {
    pub(super) fn len(&self) -> usize {
        self.jobs.len()
    }

    pub(super) fn holds(&self, job: JobId) -> bool {
        self.jobs.contains_key(&job)
    }

    pub(super) fn entries(&self, window: &Window) -> usize {
        self.entries.get(window).map_or(0, BTreeMap::len)
    }

    pub(super) fn has_room(&self, window: &Window) -> bool {
        self.jobs.len() < limit::POOL_ENTRIES && self.entries(window) < limit::WINDOW_ENTRIES
    }

    pub(super) fn put(&mut self, request: &Enqueue) {
        let window = match self.entries.get_key_value(&request.window) {
            Some((known, _)) => Arc::clone(known),
            None => Arc::new(request.window.clone()),
        };
        self.jobs.insert(request.job, (Arc::clone(&window), request.position));
        self.entries
            .entry(window)
            .or_default()
            .insert((request.position, request.job), request.checkpoint_revision);
    }

    /// The entry with the lowest (priority, position) over `windows`, those of paused queues left out.
    pub(super) fn offer(&self, windows: &[Window], paused: &[String]) -> Offer {
        let mut best: Option<(Priority, Position, JobId)> = None;
        let mut none = Offer::Nothing;
        for window in windows.iter().take(limit::RESERVE_WINDOWS) {
            let Some((known, entries)) = self.entries.get_key_value(window) else { continue };
            let Some(((position, job), _)) = entries.first_key_value() else { continue };
            if paused.contains(&known.queue) {
                none = Offer::Paused;
                continue;
            }
            let place = (known.priority, *position, *job);
            if best.is_none_or(|best| place < best) {
                best = Some(place);
            }
        }
        best.map_or(none, |(_, _, job)| Offer::First(job))
    }

    /// Takes the job's entry out, if there is one.
    pub(super) fn take(&mut self, job: JobId) -> Option<Entry> {
        let (window, position) = self.jobs.remove(&job)?;
        let entries = self.entries.get_mut(&window)?;
        let checkpoint_revision = entries.remove(&(position, job))?;
        if entries.is_empty() {
            self.entries.remove(&window);
        }
        Some(Entry { job, window, checkpoint_revision })
    }

    /// The windows that have entries.
    pub(super) fn states(&self) -> impl Iterator<Item = WindowState> + '_ {
        self.entries
            .iter()
            .map(|(window, entries)| WindowState { window: Window::clone(window), entries: entries.len() })
    }
}
