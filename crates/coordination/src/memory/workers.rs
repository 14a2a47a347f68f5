//! Registrations: which workers live and what they serve.
//!
//! Promises: a worker that has not been heard of for two lease lengths is forgotten; whether a window is
//! served is answered without walking the workers. Does not decide anything: a worker may be alive and
//! forgotten, or dead and remembered.
//! The spec does not speak of it; protocol rule 6 does (only windows that someone serves are filled).

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use protocol::{Incarnation, Priority, Window};

use crate::Registration;

/// How many workers serve a kind: all its queues, or named ones.
#[derive(Clone, Default)]
struct Serving {
    all: usize,
    queues: BTreeMap<String, usize>,
}

/// All registered workers.
#[derive(Clone, Default)]
pub(super) struct Workers {
    known: BTreeMap<Incarnation, (Registration, Duration)>,
    seen: BTreeSet<(Duration, Incarnation)>,
    /// Those that were asked to drain.
    asked: BTreeSet<Incarnation>,
    serving: BTreeMap<String, Serving>,
}

impl Workers {
    /// Whether a worker that takes new work serves the window.
    pub(super) fn serve(&self, window: &Window) -> bool {
        self.serving
            .get(&window.kind)
            .is_some_and(|serving| serving.all > 0 || serving.queues.contains_key(&window.queue))
    }

    /// Takes a registration. Answers whether the worker serves something else than before.
    pub(super) fn put(&mut self, registration: &Registration, now: Duration) -> bool {
        let asked = self.is_asked_to_drain(registration.worker);
        let before = self.remove(registration.worker);
        if asked {
            self.asked.insert(registration.worker);
        }
        self.count(registration, true);
        self.seen.insert((now, registration.worker));
        self.known.insert(registration.worker, (registration.clone(), now));
        before.is_none_or(|before| {
            (&before.queues, &before.kinds, before.draining)
                != (&registration.queues, &registration.kinds, registration.draining)
        })
    }

    pub(super) fn remove(&mut self, worker: Incarnation) -> Option<Registration> {
        let (registration, seen) = self.known.remove(&worker)?;
        self.seen.remove(&(seen, worker));
        self.asked.remove(&worker);
        self.count(&registration, false);
        Some(registration)
    }

    /// Asks a worker to drain, where it is known; answers that.
    pub(super) fn ask_to_drain(&mut self, worker: Incarnation) -> bool {
        let known = self.known.contains_key(&worker);
        if known {
            self.asked.insert(worker);
        }
        known
    }

    pub(super) fn is_asked_to_drain(&self, worker: Incarnation) -> bool {
        self.asked.contains(&worker)
    }

    /// Forgets those last heard of before `horizon`.
    pub(super) fn forget(&mut self, horizon: Duration) {
        while let Some((seen, worker)) = self.seen.first().copied()
            && seen < horizon
        {
            self.remove(worker);
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&Registration, Duration)> {
        self.known.values().map(|(registration, seen)| (registration, *seen))
    }

    /// The windows that workers have named; those of workers that serve every queue cannot be listed.
    pub(super) fn named_windows(&self) -> impl Iterator<Item = Window> + '_ {
        self.serving.iter().flat_map(|(kind, serving)| {
            serving.queues.keys().flat_map(move |queue| {
                (1..=4).map(move |priority| Window {
                    queue: queue.clone(),
                    kind: kind.clone(),
                    priority: Priority(priority),
                })
            })
        })
    }

    fn count(&mut self, registration: &Registration, coming: bool) {
        if registration.draining {
            return;
        }
        let kinds: BTreeSet<&String> = registration.kinds.iter().collect();
        for kind in kinds {
            let serving = self.serving.entry(kind.clone()).or_default();
            match &registration.queues {
                None => step(&mut serving.all, coming),
                Some(queues) => {
                    let queues: BTreeSet<&String> = queues.iter().collect();
                    for queue in queues {
                        step(serving.queues.entry(queue.clone()).or_default(), coming);
                    }
                    serving.queues.retain(|_, workers| *workers > 0);
                }
            }
            if serving.all == 0 && serving.queues.is_empty() {
                self.serving.remove(kind);
            }
        }
    }
}

fn step(count: &mut usize, up: bool) {
    *count = if up { *count + 1 } else { count.saturating_sub(1) };
}
