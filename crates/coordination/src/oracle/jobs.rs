//! `PublishCancelNotice`, `CleanTerminalCoordination`, `ReportProgress`: what is said of jobs.

use protocol::machine::{AttemptState, Move};
use protocol::{Guard, JobId};

use super::{Ending, Shelf, Verdict, need};
use crate::{CleanTerminal, PublishCancelNotice, ReportProgress, Wake};

impl Shelf {
    pub(super) fn publish_cancel_notice(&mut self, request: &PublishCancelNotice) -> Verdict<()> {
        let step = Move::PublishCancelNotice(self.law.job(request.job));
        self.law.step(step, self.places())?;
        self.wake(Wake::CancelNotice(request.job));
        Ok(())
    }

    pub(super) fn clean_terminal_coordination(&mut self, request: &CleanTerminal) -> Verdict<()> {
        let step = Move::CleanTerminalCoordination(self.law.job(request.job));
        self.law.step(step, self.places())?;
        self.entries.remove(&request.job);
        self.said.remove(&request.job);
        if self.permits.contains_key(&request.job) {
            self.forget_permit(request.job, Ending::Other);
            self.wake(Wake::Freed);
        }
        Ok(())
    }

    pub(super) fn report_progress(&mut self, request: &ReportProgress) -> Verdict<()> {
        let lease = self.leases.get(&request.attempt);
        let own = lease.is_some_and(|lease| (lease.job, lease.worker) == (request.job, request.worker));
        need(own, Guard::LeaseLive)?;
        let of = self.law.attempt(request.job, request.attempt);
        let something_else = self.said.get(&request.job) != Some(&request.progress);
        self.law.knowing(of, None, AttemptState::Executing);
        self.law.says(of, something_else);
        self.law.step(Move::ReportProgress(of), self.places())?;
        self.said.insert(request.job, request.progress.clone());
        self.wake(Wake::Progress(request.job));
        Ok(())
    }

    /// All jobs of which something beside an entry is held, after one.
    pub(super) fn jobs_after(&self, after: Option<JobId>) -> Vec<JobId> {
        let mut held: Vec<_> = self.permits.keys().copied().collect();
        held.extend(self.leases.values().map(|lease| lease.job));
        held.extend(self.law.jobs_told_of());
        held.sort_unstable();
        held.dedup();
        held.retain(|job| after.is_none_or(|after| *job > after));
        held
    }
}
