//! What a first look over a trace tells: how many events each job has, which epochs there were, how far each
//! worker's own record goes.

use std::collections::HashMap;

use protocol::{Action, ActorId, JobId, Room};

use super::Source;

/// The counts.
#[derive(Debug, Clone, Default)]
pub struct Census {
    jobs: HashMap<JobId, u32>,
    pools: HashMap<usize, Epochs>,
    recorded: HashMap<ActorId, u64>,
}

#[derive(Debug, Clone, Default)]
struct Epochs {
    seen: Vec<u64>,
    /// Epochs whose end was recorded.
    ended: Vec<u64>,
    first_segment: Option<u64>,
    owner: bool,
    cut: bool,
}

/// The part of an event that is counted.
#[derive(Debug, Clone, Copy, serde::Deserialize)]
pub struct Head {
    /// Where it happened.
    pub room: Room,
    /// The pool's epoch.
    pub epoch: u64,
    /// Which action.
    pub action: Action,
    /// The job.
    #[serde(default)]
    pub job: Option<JobId>,
    /// Who acted.
    pub actor: ActorId,
    /// The actor's number.
    pub sequence: u64,
}

impl Census {
    /// Counts one event.
    pub fn count(&mut self, head: &Head, source: Source) {
        if let Some(job) = head.job {
            *self.jobs.entry(job).or_default() += 1;
        }
        if head.room == Room::Worker || head.room == Room::Target {
            let last = self.recorded.entry(head.actor).or_default();
            *last = (*last).max(head.sequence);
        }
        if head.room == Room::Coordination || head.room == Room::Durable {
            let pool = self.pools.entry(source.pool).or_default();
            let first = pool.first_segment.get_or_insert(source.segment);
            *first = (*first).min(source.segment);
            pool.owner |= source.owner;
            if head.epoch > 0 && pool.seen.last() != Some(&head.epoch) && !pool.seen.contains(&head.epoch) {
                pool.seen.push(head.epoch);
            }
            if head.action == Action::LoseCoordinationState {
                pool.ended.push(head.epoch);
            }
        }
    }

    /// A writer of this pool ended in the middle, or has not ended yet.
    pub fn cut(&mut self, pool: usize) {
        self.pools.entry(pool).or_default().cut = true;
    }

    /// Whether one process records for the rooms of this pool.
    pub(super) fn has_owner(&self, pool: usize) -> bool {
        self.pools.get(&pool).is_some_and(|pool| pool.owner)
    }

    /// Whether events of this pool's rooms may be missing anywhere, because whoever was answered recorded them and was
    /// killed.
    pub(super) fn was_cut(&self, pool: usize) -> bool {
        self.pools.get(&pool).is_some_and(|pool| pool.cut && !pool.owner)
    }

    /// One event of this job has come; whether it was the last.
    pub(super) fn seen(&mut self, job: JobId) -> bool {
        match self.jobs.get_mut(&job) {
            Some(left) if *left > 1 => *left -= 1,
            Some(_) => {
                self.jobs.remove(&job);
                return true;
            }
            None => {}
        }
        false
    }

    pub(super) fn last_epoch(&self, pool: usize) -> u64 {
        self.pools.get(&pool).and_then(|epochs| epochs.seen.iter().copied().max()).unwrap_or(0)
    }

    pub(super) fn first_segment(&self, pool: usize) -> u64 {
        self.pools.get(&pool).and_then(|epochs| epochs.first_segment).unwrap_or(0)
    }

    /// Every epoch that is followed by another one, or whose end was recorded, ended with a loss.
    pub(super) fn losses(&self) -> u64 {
        let lost = |epochs: &Epochs| {
            let last = epochs.seen.iter().max();
            let ended = |epoch: &&u64| Some(*epoch) < last || epochs.ended.contains(epoch);
            epochs.seen.iter().filter(ended).count()
        };
        self.pools.values().map(|epochs| u64::try_from(lost(epochs)).unwrap_or(u64::MAX)).sum()
    }

    /// Whether the actor's own record may lack what it did before its request of this number: it ends before it.
    pub(super) fn lacks(&self, actor: ActorId, sequence: u64) -> bool {
        self.recorded.get(&actor).is_none_or(|last| *last < sequence)
    }
}
