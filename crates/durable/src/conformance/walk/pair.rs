//! The two rooms: what an intent means now, both answers, and both states.

use std::fmt::Debug;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use protocol::{
    ActorId, AttemptId, FailureCause, Incarnation, JobId, JobSpec, Judged, Mark, Origin, Phase, Priority,
    ReservationId, RetryPolicy, Timestamp, Token, UserProgress, id,
};
use tokio::runtime::{Builder, Runtime};

use super::ask::{Ask, Like, Which, Whose};
use super::request::Request;
use crate::conformance::Fixture;
use crate::oracle::OracleRoom;
use crate::{
    AcceptFailure, AcceptSuccess, AttemptOf, AuthorizeAttempt, Configure, DispatchRead, Document,
    DurableRoom, FinalizeCancel, InvalidateCheckpoint, JobFilter, JobView, PersistCheckpoint, RaiseEpoch,
    ReapLostAttempt, RequestCancel, ResultRecord, Retry, ScheduleRetry, StageSwept, Submit,
};

/// Phases of jobs that have not ended.
const LIVE: &[Phase] = &[Phase::Queued, Phase::Running, Phase::RetryWait, Phase::Cancelling];
/// Phases in which an attempt has authority.
const RUNNING: &[Phase] = &[Phase::Running, Phase::Cancelling];

/// An adapter's room and the law's.
pub(super) struct Pair {
    runtime: Runtime,
    fixture: Arc<dyn Fixture>,
    real: Arc<dyn DurableRoom>,
    law: Arc<OracleRoom>,
    clock: Arc<AtomicI64>,
    jobs: Vec<JobId>,
    sent: Vec<Request>,
    next: u64,
}

impl Pair {
    pub(super) fn new(fixture: Arc<dyn Fixture>) -> Self {
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let real = fixture.room();
        let now = runtime.block_on(real.next_due()).unwrap().now;
        let clock = Arc::new(AtomicI64::new(now.0));
        let read = Arc::clone(&clock);
        let law = Arc::new(OracleRoom::new(Arc::new(move || Timestamp(read.load(Ordering::Relaxed)))));
        // Each store makes its own by chance.
        law.belong_to(runtime.block_on(real.pool()).unwrap().installation);
        Self { runtime, fixture, real, law, clock, jobs: Vec::new(), sent: Vec::new(), next: 0 }
    }

    fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    fn new_job(&mut self) -> JobId {
        JobId(id::v7(self.number(), 5))
    }

    fn new_attempt(&mut self) -> AttemptId {
        AttemptId(id::v7(self.number(), 6))
    }

    /// A job: mostly one in a phase that fits the intent, sometimes any, rarely a stranger.
    fn job(&mut self, pick: u8, fitting: &[Phase]) -> JobId {
        use crate::DurableReads as _;
        let phases = self.runtime.block_on(self.law.phases(&self.jobs)).unwrap();
        let fits = |phase: Option<crate::PhaseRead>| phase.is_some_and(|read| fitting.contains(&read.phase));
        let fit: Vec<_> =
            self.jobs.iter().zip(phases).filter(|(_, phase)| fits(*phase)).map(|(job, _)| *job).collect();
        let among = match pick {
            0..=199 if !fit.is_empty() => &fit,
            0..=247 => &self.jobs,
            _ => return self.new_job(),
        };
        let place = usize::from(pick).checked_rem(among.len());
        place.map(|place| among[place]).unwrap_or_else(|| self.new_job())
    }

    fn view(&self, job: JobId) -> Option<JobView> {
        use crate::Listing as _;
        self.runtime.block_on(self.law.job(job)).unwrap()
    }

    /// The attempt meant: its id and a token.
    fn attempt(&mut self, job: JobId, whose: Whose) -> (AttemptId, Token) {
        let attempts = self.view(job).map_or_else(Vec::new, |view| view.attempts);
        let back = match whose {
            Whose::Earlier(back) => usize::from(back),
            Whose::Last | Whose::WrongToken | Whose::Nobodys => 0,
        };
        let meant = attempts.len().checked_sub(back + 1).map(|place| &attempts[place]);
        match (meant, whose) {
            (Some(meant), Whose::WrongToken) => (meant.attempt, Token(meant.token.0 + 1)),
            (Some(meant), Whose::Last | Whose::Earlier(_)) => (meant.attempt, meant.token),
            _ => (self.new_attempt(), Token(u32::try_from(attempts.len().max(1)).unwrap())),
        }
    }

    fn checkpoint_revision(&self, job: JobId, which: Which) -> u64 {
        let Some(view) = self.view(job) else { return 0 };
        match which {
            Which::Valid => view.checkpoint_revision,
            Which::None => 0,
            Which::Other(back) => view.revision.saturating_sub(u64::from(back)),
        }
    }

    /// One step of both rooms.
    pub(super) fn step(&mut self, ask: &Ask) {
        match *ask {
            Ask::Advance { ms } => {
                self.fixture.advance(ms);
                self.clock.fetch_add(i64::try_from(ms).unwrap(), Ordering::Relaxed);
            }
            Ask::Damage { job } => {
                let job = self.job(job, LIVE);
                if self.view(job).is_some() {
                    self.runtime.block_on(self.fixture.damage(job));
                    self.law.damage(job);
                }
            }
            Ask::Again(back) => {
                let place = self.sent.len().checked_sub(usize::from(back % 40) + 1);
                if let Some(request) = place.map(|place| self.sent[place].clone()) {
                    self.send(&request);
                }
            }
            // A few jobs that get far show more than many that do not.
            Ask::Submit(_) if self.unfinished() >= 4 => {}
            ref ask => {
                let request = self.meant(ask);
                self.send(&request);
                self.sent.push(request);
            }
        }
        if self.next.is_multiple_of(8) {
            self.compare_all();
        }
    }

    fn send(&mut self, request: &Request) {
        let sequence = self.number();
        let origin = Origin { actor: ActorId(7), sequence, sent_after: sequence - 1 };
        let law = self.runtime.block_on(request.send(self.law.as_ref(), &origin));
        let real = self.runtime.block_on(request.send(self.real.as_ref(), &origin));
        assert_eq!(real, law, "the answer to {request:?}");
        super::tell(law.short);
        if let Request::Submit(Submit { job, .. }) | Request::Retry(Retry { new_job: job, .. }) = request
            && !self.jobs.contains(job)
            && self.view(*job).is_some()
        {
            self.jobs.push(*job);
        }
        self.jobs.iter().rev().take(2).for_each(|job| self.compare(*job));
    }

    fn meant(&mut self, ask: &Ask) -> Request {
        match *ask {
            Ask::Submit(like) => self.submission(like),
            Ask::Schedule { job } => {
                Request::ScheduleRetry(ScheduleRetry { job: self.job(job, &[Phase::RetryWait]) })
            }
            Ask::Cancel { job } => Request::RequestCancel(RequestCancel { job: self.job(job, LIVE) }),
            Ask::Invalidate { job, which } => {
                let job = self.job(job, LIVE);
                Request::InvalidateCheckpoint(InvalidateCheckpoint {
                    job,
                    checkpoint_revision: self.checkpoint_revision(job, which),
                    reason: "hash differs".to_owned(),
                })
            }
            Ask::Retry { job, onto } => self.retry(job, onto),
            Ask::Swept { stage, kept } => self.swept(stage, kept),
            Ask::RaiseEpoch { by, stale } => {
                let epoch = self.pool_epoch();
                let from = if stale { epoch.saturating_sub(1) } else { epoch };
                Request::RaiseEpoch(RaiseEpoch { from, to: from + u64::from(by) })
            }
            Ask::OpenEpoch { stale } => Request::OpenEpoch(self.pool_epoch() + u64::from(stale)),
            Ask::Configure { limit, pause } => Request::Configure(Configure {
                global_limit: Some(1_000 + u32::from(limit)),
                lease_ms: None,
                pause: pause.filter(|pause| *pause).map(|_| "a".to_owned()),
                resume: pause.filter(|pause| !*pause).map(|_| "a".to_owned()),
            }),
            ref ask => self.of_an_attempt(ask),
        }
    }

    fn unfinished(&self) -> usize {
        use crate::DurableReads as _;
        let phases = self.runtime.block_on(self.law.phases(&self.jobs)).unwrap();
        phases.iter().flatten().filter(|read| !read.phase.is_terminal()).count()
    }

    fn pool_epoch(&self) -> u64 {
        use crate::DurableReads as _;
        self.runtime.block_on(self.law.pool()).unwrap().epoch
    }

    fn submission(&mut self, like: Like) -> Request {
        let job = self.new_job();
        let now = self.clock.load(Ordering::Relaxed);
        let spec = JobSpec {
            queue: if like.window & 1 == 0 { "a" } else { "b" }.to_owned(),
            priority: Priority(if like.window & 2 == 0 { 2 } else { 1 }),
            max_attempts: u32::from(like.max_attempts),
            retry: RetryPolicy { base_ms: like.retry_base_ms, cap_ms: like.retry_base_ms * 4 },
            scheduled_at: like.scheduled_in_ms.map(|ms| Timestamp(now + ms)),
            idempotency_key: like.key.map(|key| format!("key-{key}")),
            ..JobSpec::default()
        };
        Request::Submit(Submit { job, spec, retry_of: None })
    }

    fn retry(&mut self, job: u8, onto: Option<u8>) -> Request {
        let job = self.job(job, &[Phase::Failed, Phase::Cancelled, Phase::RetryWait, Phase::Queued]);
        let new_job = match onto {
            Some(known) => self.job(known, &[]),
            None => self.new_job(),
        };
        Request::Retry(Retry { job, new_job })
    }

    fn swept(&mut self, stage: u8, kept: bool) -> Request {
        use crate::DurableReads as _;
        let stages = self.runtime.block_on(self.law.stages_to_sweep(100)).unwrap();
        let meant = stages.get(usize::from(stage)).or(stages.first());
        let (job, attempt) = match meant {
            Some(stage) => (stage.job, stage.attempt),
            None => (self.new_job(), self.new_attempt()),
        };
        Request::StagesSwept(StageSwept { job, attempt, kept })
    }

    fn of_an_attempt(&mut self, ask: &Ask) -> Request {
        match *ask {
            Ask::Claim { job, on, id } => self.claim(job, on, id),
            Ask::Checkpoint { job, whose, further, inline } => self.checkpoint(job, whose, further, inline),
            Ask::Succeed { job, whose } => {
                let job = self.job(job, RUNNING);
                let (attempt, token) = self.attempt(job, whose);
                let manifest = Document::Inline(attempt.to_string().into_bytes());
                let result = ResultRecord { manifest, digest: [9; 32], files: 3, bytes: 12 };
                Request::AcceptSuccess(AcceptSuccess { job, attempt, token, result })
            }
            Ask::Fail { job, whose, cause, chance } => {
                let job = self.job(job, RUNNING);
                let (attempt, token) = self.attempt(job, whose);
                let cause = match cause {
                    0..=7 => FailureCause::Failed,
                    8 | 9 => FailureCause::TimedOut,
                    10 => FailureCause::Drained,
                    11 => FailureCause::BadCheckpoint,
                    12 => FailureCause::Permanent,
                    _ => FailureCause::Lost,
                };
                let error = format!("{attempt} failed\nof {cause:?}");
                Request::AcceptFailure(AcceptFailure {
                    job,
                    attempt,
                    token,
                    cause,
                    error,
                    exit: None,
                    chance,
                })
            }
            Ask::Reap { job, whose, chance } => {
                let job = self.job(job, RUNNING);
                let (attempt, token) = self.attempt(job, whose);
                let error = "worker lost".to_owned();
                Request::ReapLostAttempt(ReapLostAttempt {
                    job,
                    attempt,
                    token,
                    error,
                    chance,
                    judged: Vec::new(),
                })
            }
            Ask::Finalize { job, whose, by_worker } => {
                let job = self.job(job, &[Phase::Cancelling]);
                let (attempt, _) = self.attempt(job, whose);
                let seen = Judged::coordination(Mark { epoch: 1, order: 7 });
                let judged = if by_worker { Vec::new() } else { vec![seen] };
                Request::FinalizeCancel(FinalizeCancel { job, attempt, judged })
            }
            ref other => unreachable!("{other:?} names no attempt"),
        }
    }

    fn claim(&mut self, job: u8, on: Which, id: Whose) -> Request {
        let job = self.job(job, &[Phase::Queued]);
        // `WrongToken` here: the id of an attempt that another job runs.
        let attempt = match id {
            Whose::WrongToken => self.running_elsewhere(job),
            id => self.attempt(job, id).0,
        };
        Request::AuthorizeAttempt(AuthorizeAttempt {
            job,
            attempt,
            worker: Incarnation(11),
            reservation: ReservationId(12),
            epoch: self.pool_epoch(),
            checkpoint_revision: self.checkpoint_revision(job, on),
            judged: Vec::new(),
        })
    }

    fn running_elsewhere(&mut self, job: JobId) -> AttemptId {
        use crate::DurableReads as _;
        let running = self.runtime.block_on(self.law.running(None, 100)).unwrap();
        let other = running.iter().find(|other| other.job != job).map(|other| other.attempt);
        other.unwrap_or_else(|| self.new_attempt())
    }

    fn checkpoint(&mut self, job: u8, whose: Whose, further: i8, inline: bool) -> Request {
        use crate::DurableReads as _;
        let job = self.job(job, &[Phase::Running]);
        let (attempt, token) = self.attempt(job, whose);
        let stored = self.runtime.block_on(self.law.checkpoint(job)).unwrap();
        let progress = stored.map_or(0, |stored| stored.progress).saturating_add_signed(i64::from(further));
        let text = format!("{attempt} at {progress}");
        let stored = Document::Stored { key: text.clone(), length: 70_000, digest: [1; 32] };
        Request::PersistCheckpoint(PersistCheckpoint {
            job,
            attempt,
            token,
            progress,
            user: UserProgress { done: progress * 10, total: Some(100), message: Some(text.clone()) },
            state: if inline { Document::Inline(text.clone().into_bytes()) } else { stored },
            manifest: Document::Inline(text.into_bytes()),
        })
    }

    /// Both rooms say the same of one job.
    fn compare(&self, job: JobId) {
        let both = [self.law.as_ref() as &dyn DurableRoom, self.real.as_ref()];
        let [law, real] = both.map(|room| {
            self.runtime.block_on(async {
                let attempts = room.job(job).await.unwrap().map_or_else(Vec::new, |view| view.attempts);
                let attempts: Vec<_> =
                    attempts.iter().map(|one| AttemptOf { job, attempt: one.attempt }).collect();
                (
                    room.job(job).await.unwrap().map(without_reason),
                    room.phases(&[job]).await.unwrap(),
                    room.checkpoint(job).await.unwrap(),
                    room.dispatch_read_jobs(&[job]).await.unwrap(),
                    room.authority(&attempts).await.unwrap(),
                )
            })
        });
        same(&law, &real, "a job");
    }

    /// Both rooms say the same of everything.
    pub(super) fn compare_all(&self) {
        self.jobs.iter().for_each(|job| self.compare(*job));
        let both = [self.law.as_ref() as &dyn DurableRoom, self.real.as_ref()];
        let [law, real] = both.map(|room| self.runtime.block_on(everything(room)));
        same(&law, &real, "the room");
    }
}

/// Why a row was set aside is for people, and each adapter's own text.
fn without_reason(mut view: JobView) -> JobView {
    view.summary.set_aside = view.summary.set_aside.map(|_| String::new());
    view
}

#[track_caller]
fn same(law: &impl Debug, real: &impl Debug, what: &str) {
    let (law, real) = (format!("{law:#?}"), format!("{real:#?}"));
    assert!(law == real, "{what}\nof the law: {law}\nof the adapter: {real}");
}

async fn everything(room: &dyn DurableRoom) -> Vec<String> {
    let mut all = vec![
        format!("{:?}", room.pool().await.unwrap()),
        format!("{:?}", room.due_retries(100).await.unwrap()),
        format!("{:?}", room.next_due().await.unwrap()),
        format!("{:?}", room.running(None, 100).await.unwrap()),
        format!("{:?}", room.stages_to_sweep(100).await.unwrap()),
        format!("{:?}", room.counts().await.unwrap()),
        format!("{:?}", room.oldest_waiting().await.unwrap().map(|job| job.job)),
        format!("{:?}", room.ends(Timestamp(0)).await.unwrap()),
    ];
    let page = room.list(&JobFilter::default()).await.unwrap();
    all.push(format!(
        "{:?} {}",
        page.jobs.iter().map(|job| job.job).collect::<Vec<_>>(),
        page.next.is_some()
    ));
    for window in room.waiting_windows().await.unwrap() {
        let read = DispatchRead {
            window,
            from: protocol::Position { due: Timestamp::MIN, sequence: 0 },
            limit: 100,
        };
        all.push(format!("{:?}", room.dispatch_read(&read).await.unwrap()));
    }
    all
}
