//! `ScheduleRetry`, `RequestCancel`, `InvalidateCheckpoint`, and the verb `retry`.

use protocol::machine::Move;
use protocol::{Guard, JobSpec, Phase, Stamped};

use super::job::JOB;
use super::{Shelf, UNREADABLE, mark};
use crate::{
    CancelRequested, InvalidateCheckpoint, Invalidated, RequestCancel, Retried, Retry, ScheduleRetry,
    Scheduled, Submit,
};

impl Shelf {
    pub(super) fn schedule_retry(&mut self, request: &ScheduleRetry) -> Stamped<Scheduled> {
        let (job, now) = (request.job, self.now);
        let Some(row) = self.jobs.get_mut(&job) else {
            return Stamped::refused(mark(0), Guard::PhaseRetryWait);
        };
        if row.phase() == Phase::Queued && row.token().0 > 0 {
            return Stamped::taken(mark(row.revision), Scheduled { job });
        }
        if let Err(guard) = row.guard(Move::ScheduleRetry(JOB)) {
            return row.refuse(guard);
        }
        if row.due_at > now {
            return row.refuse(Guard::Due);
        }
        let (revision, due) = (row.take(Move::ScheduleRetry(JOB)), row.due_at);
        self.offer(job, due);
        Stamped::taken(mark(revision), Scheduled { job })
    }

    pub(super) fn request_cancel(&mut self, request: &RequestCancel) -> Stamped<CancelRequested> {
        let now = self.now;
        let Some(row) = self.jobs.get_mut(&request.job) else {
            return Stamped::refused(mark(0), Guard::JobExists);
        };
        let attempt = row.authority().map(|(attempt, _)| attempt);
        if matches!(row.phase(), Phase::Cancelling | Phase::Cancelled) {
            return Stamped::taken(mark(row.revision), CancelRequested { phase: row.phase(), attempt });
        }
        if let Err(guard) = row.guard(Move::RequestCancel(JOB)) {
            return row.refuse(guard);
        }
        let revision = row.take(Move::RequestCancel(JOB));
        if let Some(of) = row.variables().authority {
            row.note_mut(of).cancel_requested_at = Some(now);
        }
        if row.terminal() {
            row.end_job(now);
        }
        Stamped::taken(mark(revision), CancelRequested { phase: row.phase(), attempt })
    }

    pub(super) fn invalidate_checkpoint(&mut self, request: &InvalidateCheckpoint) -> Stamped<Invalidated> {
        let checkpoint_revision = request.checkpoint_revision;
        let Some(row) = self.jobs.get_mut(&request.job) else {
            return Stamped::refused(mark(0), Guard::CheckpointValid);
        };
        let before = row.checkpoints.get(&checkpoint_revision).and_then(|stored| stored.invalidated);
        if let Some(revision) = before {
            return Stamped::taken(mark(revision), Invalidated { checkpoint_revision });
        }
        if let Err(guard) = row.guard(Move::InvalidateCheckpoint(JOB)) {
            return row.refuse(guard);
        }
        if row.checkpoint_revision != checkpoint_revision {
            return row.refuse(Guard::CheckpointChanged);
        }
        let revision = row.take(Move::InvalidateCheckpoint(JOB));
        if let Some(stored) = row.checkpoints.get_mut(&checkpoint_revision) {
            stored.invalidated = Some(revision);
        }
        Stamped::taken(mark(revision), Invalidated { checkpoint_revision })
    }

    pub(super) fn retry(&mut self, request: &Retry) -> Stamped<Retried> {
        let now = self.now;
        let made = self.jobs.get(&request.new_job).is_some_and(|new| new.retry_of == Some(request.job));
        let Some(row) = self.jobs.get_mut(&request.job) else {
            return Stamped::refused(mark(0), Guard::JobExists);
        };
        let moved = row.retried.filter(|(by, _)| *by == request.new_job).map(|(_, how)| how);
        if let Some(again) = moved.or(made.then_some(Retried::NewJob(request.new_job))) {
            return Stamped::taken(mark(row.revision), again);
        }
        let how = match row.phase() {
            Phase::Succeeded => return row.refuse(Guard::Cancellable),
            Phase::Failed | Phase::Cancelled => return self.new_job(request),
            Phase::RetryWait => {
                row.take(Move::ScheduleRetry(JOB));
                Retried::DueNow
            }
            Phase::Queued if row.offer.set_aside.is_some() => {
                row.revision += 1;
                Retried::Offered
            }
            Phase::Queued | Phase::Running | Phase::Cancelling => return row.refuse(Guard::Terminal),
        };
        row.retried = Some((request.new_job, how));
        let revision = row.revision;
        self.offer(request.job, now);
        Stamped::taken(mark(revision), how)
    }

    /// A terminal row never changes: the work goes on under a new id, with the budget it was submitted with.
    fn new_job(&mut self, request: &Retry) -> Stamped<Retried> {
        let row = &self.jobs[&request.job];
        let seen = mark(row.revision);
        if row.unreadable {
            return Stamped::set_aside(seen, UNREADABLE);
        }
        let spec = JobSpec { scheduled_at: None, idempotency_key: None, ..row.spec.clone() };
        let new = Submit { job: request.new_job, spec, retry_of: Some(request.job) };
        if self.insert(&new) {
            Stamped::taken(mark(1), Retried::NewJob(request.new_job))
        } else {
            Stamped::refused(seen, Guard::SameRequest)
        }
    }
}
