//! The pool's row: epoch and configuration.

use protocol::{Guard, Origin, Stamped, TargetId};

use super::{Shelf, mark};
use crate::{Configure, PoolRow, RaiseEpoch};

impl Shelf {
    fn answer(&self, holds: bool) -> Stamped<PoolRow> {
        let mark = mark(self.pool_revision);
        if holds {
            Stamped::taken(mark, self.pool.clone())
        } else {
            Stamped::refused(mark, Guard::EpochCurrent)
        }
    }

    pub(super) fn raise_epoch(&mut self, origin: &Origin, change: RaiseEpoch) -> Stamped<PoolRow> {
        if change.to > change.from && self.pool.epoch == change.from && self.pool.open {
            self.pool.epoch = change.to;
            self.pool.open = false;
            self.raised_from = change.from;
            self.raised_by = Some(origin.actor);
            self.pool_revision += 1;
        }
        let mine = self.raised_from == change.from && self.raised_by == Some(origin.actor);
        self.answer(self.pool.epoch == change.to && mine)
    }

    pub(super) fn open_epoch(&mut self, epoch: u64) -> Stamped<PoolRow> {
        if self.pool.epoch == epoch && !self.pool.open {
            self.pool.open = true;
            self.pool_revision += 1;
        }
        self.answer(self.pool.epoch == epoch)
    }

    pub(super) fn configure(&mut self, change: &Configure) -> PoolRow {
        let before = self.pool.clone();
        self.pool.global_limit = change.global_limit.unwrap_or(before.global_limit);
        self.pool.lease_ms = change.lease_ms.unwrap_or(before.lease_ms);
        if let Some(queue) = &change.pause
            && !self.pool.paused.contains(queue)
        {
            self.pool.paused.push(queue.clone());
            self.pool.paused.sort();
        }
        if let Some(queue) = &change.resume {
            self.pool.paused.retain(|paused| paused != queue);
        }
        if self.pool != before {
            self.pool.config_revision += 1;
            self.pool_revision += 1;
        }
        self.pool.clone()
    }

    pub(super) fn adopt_target(&mut self, target: TargetId) -> TargetId {
        if self.pool.target.is_none() {
            self.pool_revision += 1;
        }
        *self.pool.target.get_or_insert(target)
    }
}
