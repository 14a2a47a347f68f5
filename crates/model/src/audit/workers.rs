//! Who the workers of a job's replay are.
//!
//! Promises: an incarnation that was given several permits for one job is a worker of the spec for each of them: it may
//! stop with the first, lose it, go on and be given another one, and claim with either. The spec's worker has one permit
//! of a job and remembers one; what each permit of the real one allows is what the spec allows a worker that has no other.
//! An attempt is of the permit that it was claimed with. Does not tell permits apart where the trace does not say which one
//! an attempt was claimed with: then the incarnation is one worker.

use std::collections::{HashMap, HashSet};

use protocol::{ActorId, AttemptId, Event, Incarnation, ReservationId};

use super::trace::Fact;

/// A worker of the spec: an incarnation, and which permit, if it had several.
type Named = (Incarnation, Option<ReservationId>);

/// See the module.
#[derive(Default)]
pub(super) struct Workers {
    places: HashMap<Named, u16>,
    /// Incarnations that had several permits, each known to be of an attempt or of none.
    several: HashSet<Incarnation>,
    claimed_with: HashMap<AttemptId, ReservationId>,
}

impl Workers {
    pub(super) fn of(lists: &[Vec<Fact>]) -> Self {
        let all = || lists.iter().flatten().map(|fact| &fact.event);
        let mut workers = Self::default();
        let mut permits: HashMap<Incarnation, HashSet<ReservationId>> = HashMap::new();
        let mut attempts: Vec<(Incarnation, AttemptId)> = Vec::new();
        for event in all() {
            let Some(worker) = event.detail.worker else { continue };
            permits.entry(worker).or_default().extend(event.detail.reservation);
            attempts.extend(event.attempt.map(|attempt| (worker, attempt)));
            if let (Some(attempt), Some(permit)) = (event.attempt, event.detail.reservation) {
                workers.claimed_with.entry(attempt).or_insert(permit);
            }
        }
        permits.retain(|_, permits| permits.len() > 1);
        for (worker, attempt) in attempts {
            if !workers.claimed_with.contains_key(&attempt) {
                permits.remove(&worker);
            }
        }
        workers.several = permits.into_keys().collect();
        for event in all() {
            if let Some(named) = workers.named(event) {
                let next = workers.count();
                workers.places.entry(named).or_insert(next);
            }
        }
        workers
    }

    fn named(&self, event: &Event) -> Option<Named> {
        let worker = event.detail.worker?;
        if !self.several.contains(&worker) {
            return Some((worker, None));
        }
        let of_attempt = event.attempt.and_then(|attempt| self.claimed_with.get(&attempt).copied());
        Some((worker, event.detail.reservation.or(of_attempt)))
    }

    pub(super) fn count(&self) -> u16 {
        u16::try_from(self.places.len()).unwrap_or(u16::MAX - 1)
    }

    /// The place of the worker that an event names.
    pub(super) fn place(&self, event: &Event) -> Option<u16> {
        self.places.get(&self.named(event)?).copied()
    }

    /// Whether this actor is the worker of that place.
    pub(super) fn is(&self, actor: ActorId, place: u16) -> bool {
        let mut of = self.places.iter().filter(|(_, other)| **other == place);
        of.any(|((incarnation, _), _)| ActorId::from(*incarnation) == actor)
    }
}
