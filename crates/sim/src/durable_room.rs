//! The durable room of the law, which records what it did.
//!
//! Promises: every step that is taken or refused is an event in the form that the product's adapters give it, recorded in
//! the same moment. Does not decide anything: `durable::oracle` does.

use std::slice;
use std::sync::Arc;

use async_trait::async_trait;
use durable::oracle::OracleRoom;
use durable::*;
use protocol::{
    Action, AttemptId, Detail, Event, EventSink, FailureCause, Fault, Guard, JobId, Judged, Mark, Origin,
    Outcome, Room, Stamped, Step, TargetId, Token, Window,
};

use target::{Depth, Manifest, Target as _};

use crate::now::now;
use crate::record::Record;
use crate::target_room::MemoryTarget;

/// See the module.
pub(crate) struct RecordedRoom {
    pub(crate) room: OracleRoom,
    pub(crate) published: Published,
}

/// Looks at each result in the moment of its publication.
pub(crate) struct Published {
    pub(crate) target: Arc<MemoryTarget>,
    pub(crate) record: Arc<Record>,
}

impl Published {
    /// Whether all that the result refers to can be read.
    fn look(&self, request: &AcceptSuccess) {
        let parts: Option<Vec<_>> = match &request.result.manifest {
            Document::Inline(bytes) => Manifest::decode(bytes).ok().map(|one| one.parts().cloned().collect()),
            Document::Stored { .. } => None,
        };
        let whole = parts.is_some_and(|parts| now(self.target.verify(&parts, Depth::All)).is_ok());
        if !whole {
            self.record.wrong("a result was published that cannot be read");
        }
    }
}

/// What a request says of itself.
struct Told<'a> {
    action: Action,
    job: JobId,
    attempt: Option<AttemptId>,
    token: Option<Token>,
    judged: &'a [Judged],
    detail: Detail,
}

impl Told<'_> {
    fn of(action: Action, job: JobId) -> Self {
        Self { action, job, attempt: None, token: None, judged: &[], detail: Detail::default() }
    }

    fn by(self, attempt: AttemptId, token: Token) -> Self {
        Self { attempt: Some(attempt), token: Some(token), ..self }
    }
}

/// A step and the job's row before and after it.
struct Seen<'a, T> {
    step: &'a Step<T>,
    before: Option<JobView>,
    after: JobView,
}

impl RecordedRoom {
    /// The job, now.
    pub(crate) fn view(&self, job: JobId) -> Option<JobView> {
        now(self.room.job(job)).ok().flatten()
    }

    fn each<R, T>(
        &self,
        origin: &Origin,
        batch: &[R],
        ask: impl Fn(&[R]) -> Answer<T>,
        tell: impl for<'r> Fn(&'r R, &Seen<'_, T>) -> Told<'r>,
    ) -> Answer<T>
    where
        R: HasJob,
    {
        let mut answers = Vec::with_capacity(batch.len());
        for request in batch {
            let before = self.view(request.job());
            let mut answer = ask(slice::from_ref(request))?;
            let Some(answer) = answer.pop() else { continue };
            if let Some(after) = self.view(request.job()) {
                let seen = Seen { step: &answer.step, before, after };
                let told = tell(request, &seen);
                self.record(origin, told, answer.mark, &seen);
            }
            answers.push(answer);
        }
        Ok(answers)
    }

    fn record<T>(&self, origin: &Origin, told: Told<'_>, mark: Mark, seen: &Seen<'_, T>) {
        let outcome = match seen.step {
            // A repeat is answered with an earlier mark, and changes nothing.
            Step::Taken(_) if seen.before.as_ref().is_some_and(|row| row.revision == seen.after.revision) => {
                return;
            }
            Step::Taken(_) => Outcome::Taken,
            Step::Refused(guard) => Outcome::Refused(*guard),
            Step::SetAside(_) => return,
        };
        let event = Event {
            room: Room::Durable,
            epoch: 0,
            order: mark.order,
            action: told.action,
            outcome,
            job: Some(told.job),
            token: told.token,
            attempt: told.attempt,
            actor: origin.actor,
            sequence: origin.sequence,
            sent_after: origin.sent_after,
            answered_before: None,
            detail: Detail {
                phase_after: Some(seen.after.summary.phase),
                max_attempts: Some(seen.after.summary.max_attempts),
                ..told.detail
            },
            judged: told.judged.to_vec(),
        };
        let outcomes = [Action::AcceptSuccess, Action::AcceptFailure];
        let settled = (outcomes.contains(&told.action) && outcome != Outcome::Taken).then(|| Event {
            action: Action::RejectOutcome,
            outcome: Outcome::Taken,
            ..event.clone()
        });
        self.published.record.record(event);
        settled.into_iter().for_each(|event| self.published.record.record(event));
    }

    /// The sweep of an ended attempt's stage, or of one that has authority, which must never be.
    fn record_sweep(&self, origin: &Origin, report: &StageSwept) {
        let Some(view) = self.view(report.job) else { return };
        let due = now(self.room.stages_to_sweep(usize::MAX)).unwrap_or_default();
        let owed = due.iter().any(|stage| stage.attempt == report.attempt && !stage.committed);
        let Some(attempt) = view.attempts.iter().find(|known| known.attempt == report.attempt) else {
            return;
        };
        if !owed && attempt.verdict.is_some() {
            return;
        }
        self.published.record.record(Event {
            room: Room::Target,
            epoch: 0,
            order: origin.sequence,
            action: Action::CleanupStage,
            outcome: Outcome::Taken,
            job: Some(report.job),
            token: Some(attempt.token),
            attempt: Some(report.attempt),
            actor: origin.actor,
            sequence: origin.sequence,
            sent_after: origin.sent_after,
            answered_before: None,
            detail: Detail::default(),
            judged: vec![Judged::durable(Mark { epoch: 0, order: view.revision })],
        });
    }
}

/// The job that a request is about.
trait HasJob {
    fn job(&self) -> JobId;
}

macro_rules! has_job {
    ($($request:ty),*) => {$(
        impl HasJob for $request {
            fn job(&self) -> JobId {
                self.job
            }
        }
    )*};
}

has_job!(
    AuthorizeAttempt,
    PersistCheckpoint,
    AcceptSuccess,
    AcceptFailure,
    ReapLostAttempt,
    ScheduleRetry,
    RequestCancel,
    FinalizeCancel,
    InvalidateCheckpoint
);

#[async_trait]
impl Durable for RecordedRoom {
    async fn submit(&self, origin: &Origin, batch: &[Submit]) -> Answer<Submitted> {
        self.room.submit(origin, batch).await
    }

    async fn authorize_attempt(&self, origin: &Origin, batch: &[AuthorizeAttempt]) -> Answer<Authorized> {
        let ask = |one: &[AuthorizeAttempt]| now(self.room.authorize_attempt(origin, one));
        self.each(origin, batch, ask, |request, seen| {
            let mut told = Told::of(Action::AuthorizeAttempt, request.job);
            told.attempt = Some(request.attempt);
            told.judged = &request.judged;
            told.detail = Detail {
                worker: Some(request.worker),
                reservation: Some(request.reservation),
                checkpoint_revision: Some(request.checkpoint_revision),
                ..Detail::default()
            };
            if let Step::Taken(authorized) = seen.step {
                told.token = Some(authorized.token);
                told.detail.progress = Some(authorized.checkpoint.as_ref().map_or(0, |one| one.progress));
            }
            told
        })
    }

    async fn persist_checkpoint(&self, origin: &Origin, batch: &[PersistCheckpoint]) -> Answer<Persisted> {
        let ask = |one: &[PersistCheckpoint]| now(self.room.persist_checkpoint(origin, one));
        self.each(origin, batch, ask, |request, seen| {
            let by = seen.after.attempts.iter().find(|known| known.attempt == request.attempt);
            let detail = Detail {
                progress: Some(request.progress),
                worker: by.map(|known| known.worker),
                checkpoint_revision: match seen.step {
                    Step::Taken(persisted) => Some(persisted.checkpoint_revision),
                    Step::Refused(_) | Step::SetAside(_) => None,
                },
                ..Detail::default()
            };
            let told = Told::of(Action::PersistCheckpoint, request.job);
            Told { detail, ..told.by(request.attempt, request.token) }
        })
    }

    async fn accept_success(&self, origin: &Origin, batch: &[AcceptSuccess]) -> Answer<Ended> {
        let ask = |one: &[AcceptSuccess]| now(self.room.accept_success(origin, one));
        self.each(origin, batch, ask, |request, seen| {
            if matches!(seen.step, Step::Taken(_)) {
                self.published.look(request);
            }
            Told::of(Action::AcceptSuccess, request.job).by(request.attempt, request.token)
        })
    }

    async fn accept_failure(&self, origin: &Origin, batch: &[AcceptFailure]) -> Answer<Ended> {
        let ask = |one: &[AcceptFailure]| now(self.room.accept_failure(origin, one));
        self.each(origin, batch, ask, |request, _| {
            let told = Told::of(Action::AcceptFailure, request.job).by(request.attempt, request.token);
            Told { detail: Detail { cause: Some(request.cause), ..Detail::default() }, ..told }
        })
    }

    async fn reap_lost_attempt(&self, origin: &Origin, batch: &[ReapLostAttempt]) -> Answer<Ended> {
        let ask = |one: &[ReapLostAttempt]| now(self.room.reap_lost_attempt(origin, one));
        self.each(origin, batch, ask, |request, _| {
            let told = Told::of(Action::ReapLostAttempt, request.job).by(request.attempt, request.token);
            let detail = Detail { cause: Some(FailureCause::Lost), ..Detail::default() };
            Told { judged: &request.judged, detail, ..told }
        })
    }

    async fn schedule_retry(&self, origin: &Origin, batch: &[ScheduleRetry]) -> Answer<Scheduled> {
        let ask = |one: &[ScheduleRetry]| now(self.room.schedule_retry(origin, one));
        self.each(origin, batch, ask, |request, seen| Told {
            token: Some(seen.after.summary.token),
            ..Told::of(Action::ScheduleRetry, request.job)
        })
    }

    async fn request_cancel(&self, origin: &Origin, batch: &[RequestCancel]) -> Answer<CancelRequested> {
        let ask = |one: &[RequestCancel]| now(self.room.request_cancel(origin, one));
        self.each(origin, batch, ask, |request, seen| Told {
            attempt: match seen.step {
                Step::Taken(requested) => requested.attempt,
                Step::Refused(_) | Step::SetAside(_) => None,
            },
            token: Some(seen.after.summary.token),
            ..Told::of(Action::RequestCancel, request.job)
        })
    }

    async fn finalize_cancel(&self, origin: &Origin, batch: &[FinalizeCancel]) -> Answer<Ended> {
        let ask = |one: &[FinalizeCancel]| now(self.room.finalize_cancel(origin, one));
        self.each(origin, batch, ask, |request, seen| {
            let ended = seen.after.attempts.iter().find(|known| known.attempt == request.attempt);
            Told {
                attempt: Some(request.attempt),
                token: ended.map(|known| known.token),
                judged: &request.judged,
                ..Told::of(Action::FinalizeCancel, request.job)
            }
        })
    }

    async fn invalidate_checkpoint(
        &self,
        origin: &Origin,
        batch: &[InvalidateCheckpoint],
    ) -> Answer<Invalidated> {
        let mut progress = 0;
        for request in batch {
            progress = now(self.room.checkpoint(request.job))?.map_or(progress, |stored| stored.progress);
        }
        let ask = |one: &[InvalidateCheckpoint]| now(self.room.invalidate_checkpoint(origin, one));
        self.each(origin, batch, ask, |request, seen| Told {
            token: Some(seen.after.summary.token),
            detail: Detail {
                checkpoint_revision: Some(request.checkpoint_revision),
                progress: Some(progress),
                ..Detail::default()
            },
            ..Told::of(Action::InvalidateCheckpoint, request.job)
        })
    }

    async fn retry(&self, origin: &Origin, batch: &[Retry]) -> Answer<Retried> {
        // No story here uses the verb: what it does to a waiting job would have to be recorded.
        let refused = |retry: &Retry| {
            let revision = self.view(retry.job).map_or(0, |view| view.revision);
            Stamped::refused(Mark { epoch: 0, order: revision }, Guard::Cancellable)
        };
        let _ = origin;
        Ok(batch.iter().map(refused).collect())
    }

    async fn stages_swept(&self, origin: &Origin, batch: &[StageSwept]) -> Result<(), Fault> {
        batch.iter().for_each(|report| self.record_sweep(origin, report));
        self.room.stages_swept(origin, batch).await
    }

    async fn raise_epoch(&self, origin: &Origin, change: &RaiseEpoch) -> Result<Stamped<PoolRow>, Fault> {
        self.room.raise_epoch(origin, change).await
    }

    async fn open_epoch(&self, origin: &Origin, epoch: u64) -> Result<Stamped<PoolRow>, Fault> {
        self.room.open_epoch(origin, epoch).await
    }

    async fn configure(&self, origin: &Origin, change: &Configure) -> Result<PoolRow, Fault> {
        self.room.configure(origin, change).await
    }

    async fn adopt_target(&self, origin: &Origin, target: TargetId) -> Result<TargetId, Fault> {
        self.room.adopt_target(origin, target).await
    }
}

macro_rules! pass_on {
    ([] $port:ident { $($method:ident($($argument:ident: $type:ty),*) -> $value:ty;)* }) => {
        #[async_trait]
        impl $port for RecordedRoom {
            $(async fn $method(&self, $($argument: $type),*) -> Result<$value, Fault> {
                self.room.$method($($argument),*).await
            })*
        }
    };
}

wire::durable_reads!(pass_on[]);
wire::durable_listing!(pass_on[]);
wire::durable_access!(pass_on[]);
