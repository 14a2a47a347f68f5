//! A small run on the real embedded rooms, step by step, with its record.
//!
//! Promises: what the rooms record is what an owner's rooms would; each step is one request of a worker or agent
//! that numbers its requests. Workers are puppets: what they do themselves is recorded as a worker records it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use coordination::memory::{self, MemoryRoom};
use coordination::{
    ActivateAttempt, At, Coordination, Enqueue, HandBack, PoolConfig, PublishCancelNotice, ReapObserve,
    Registration, ReleaseLease, RenewLease, Reserve, RestoreLease,
};
use durable::sqlite::{self, SqliteRoom};
use durable::{
    AcceptFailure, AcceptSuccess, AuthorizeAttempt, Document, Durable, DurableReads, FinalizeCancel,
    PersistCheckpoint, RaiseEpoch, ReapLostAttempt, RequestCancel, ResultRecord, ScheduleRetry, Submit,
};
use protocol::{
    Action, ActorId, AttemptId, Detail, Event, EventSink, FailureCause, Incarnation, JobId, JobSpec, Judged,
    Mark, Outcome, Position, ReservationId, RetryPolicy, Stamped, Timestamp, Token, UserProgress, Window,
};
use runtime::{Caller, Runtime, Sent};

/// The lease length.
pub(crate) const LEASE_MS: u64 = 1_000;

#[derive(Default)]
struct Log(Mutex<Vec<Event>>);

impl EventSink for Log {
    fn record(&self, event: Event) {
        self.0.lock().unwrap().push(event);
    }
}

/// A puppet.
pub(crate) struct Worker {
    pub(crate) incarnation: Incarnation,
    caller: Caller,
}

/// An attempt under way.
#[derive(Clone, Copy)]
pub(crate) struct Held {
    pub(crate) job: JobId,
    pub(crate) attempt: AttemptId,
    pub(crate) token: Token,
    pub(crate) reservation: ReservationId,
    pub(crate) mark: Mark,
}

/// The rooms and who asks them.
pub(crate) struct Stage {
    pub(crate) first: Worker,
    pub(crate) second: Worker,
    agent: Caller,
    durable: SqliteRoom,
    memory: MemoryRoom,
    log: Arc<Log>,
    now_ms: Arc<AtomicU64>,
    epoch: AtomicU64,
    ids: Runtime,
    tokio: tokio::runtime::Runtime,
    _folder: tempfile::TempDir,
}

fn window() -> Window {
    Window { queue: "default".to_owned(), kind: JobSpec::EXEC.to_owned(), priority: protocol::Priority(2) }
}

/// The one answer.
pub(crate) fn only<T>(answer: Result<Vec<Stamped<T>>, protocol::Fault>) -> Stamped<T> {
    answer.unwrap().into_iter().next().unwrap()
}

impl Stage {
    /// Empty rooms with so many places, open, and two workers.
    pub(crate) fn new(places: u32) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let tokio = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let log = Arc::new(Log::default());
        let now_ms = Arc::new(AtomicU64::new(1_000_000));
        let (room_clock, file_clock) = (Arc::clone(&now_ms), Arc::clone(&now_ms));
        let sink: Arc<dyn EventSink> = Arc::clone(&log) as Arc<dyn EventSink>;
        let memory = MemoryRoom::new(memory::Options {
            clock: Arc::new(move || Duration::from_millis(room_clock.load(Ordering::Relaxed))),
            events: Arc::clone(&sink),
            ..memory::Options::default()
        });
        let options = sqlite::Options {
            sink,
            lease_ms: LEASE_MS,
            global_limit: places,
            time: Arc::new(move || Timestamp(i64::try_from(file_clock.load(Ordering::Relaxed)).unwrap())),
            ..sqlite::Options::default()
        };
        let durable = SqliteRoom::open(folder.path().join("remora.db"), options).unwrap();
        let ids = Runtime::system();
        let worker = |number| {
            let incarnation = Incarnation(number);
            Worker { incarnation, caller: Caller::new(incarnation.into()) }
        };
        let stage = Self {
            first: worker(11),
            second: worker(22),
            agent: Caller::new(ActorId(99)),
            durable,
            memory,
            log,
            now_ms,
            epoch: AtomicU64::new(0),
            ids,
            tokio,
            _folder: folder,
        };
        for worker in [&stage.first, &stage.second] {
            stage.record(worker, Action::StartIncarnation, None, Detail::default());
        }
        stage.open_epoch();
        stage
    }

    /// What was recorded.
    pub(crate) fn events(&self) -> Vec<Event> {
        self.log.0.lock().unwrap().clone()
    }

    /// Lets time pass.
    pub(crate) fn wait(&self, ms: u64) {
        self.now_ms.fetch_add(ms, Ordering::Relaxed);
    }

    fn now<T>(&self, future: impl Future<Output = T>) -> T {
        self.tokio.block_on(future)
    }

    fn at(&self, caller: &Caller) -> (Sent, At) {
        let sent = caller.send();
        let at = At { origin: sent.origin, epoch: self.epoch.load(Ordering::Relaxed) };
        (sent, at)
    }

    /// `LoseCoordinationState`, and the repair.
    pub(crate) fn lose(&self) {
        self.memory.lose();
        self.open_epoch();
    }

    fn open_epoch(&self) {
        let row = self.now(self.durable.pool()).unwrap();
        let to = row.epoch + 1;
        let sent = self.agent.send();
        self.now(self.durable.raise_epoch(&sent.origin, &RaiseEpoch { from: row.epoch, to })).unwrap();
        self.epoch.store(to, Ordering::Relaxed);
        self.now(self.memory.install_epoch(to, protocol::InstallationId(1))).unwrap();
        let at = At { origin: sent.origin, epoch: to };
        let config = PoolConfig {
            revision: row.config_revision.max(1),
            global_limit: row.global_limit,
            lease_ms: LEASE_MS,
            paused: Vec::new(),
        };
        self.now(self.memory.configure(&at, &config)).unwrap();
        let running = self.now(self.durable.running(None, 100)).unwrap();
        let attempts: Vec<_> = running.iter().map(|running| running.attempt).collect();
        self.now(self.memory.account(&at, &attempts)).unwrap();
        self.now(self.durable.open_epoch(&sent.origin, to)).unwrap();
        self.now(self.memory.open_epoch(&at)).unwrap();
        self.register();
    }

    /// The workers say that they live.
    fn register(&self) {
        let (_sent, at) = self.at(&self.agent);
        for worker in [&self.first, &self.second] {
            let registration = Registration {
                worker: worker.incarnation,
                name: "w".to_owned(),
                pid: 1,
                host: "here".to_owned(),
                slots: 9,
                queues: None,
                kinds: vec![JobSpec::EXEC.to_owned()],
                draining: false,
            };
            self.now(self.memory.register(&at, &registration)).unwrap();
        }
    }

    /// A worker's own event.
    pub(crate) fn record(&self, worker: &Worker, action: Action, held: Option<&Held>, detail: Detail) {
        let sent = worker.caller.send();
        self.log.record(Event {
            room: action.room(),
            epoch: 0,
            order: sent.origin.sequence,
            action,
            outcome: Outcome::Taken,
            job: held.map(|held| held.job),
            token: held.map(|held| held.token),
            attempt: held.map(|held| held.attempt),
            actor: sent.origin.actor,
            sequence: sent.origin.sequence,
            sent_after: sent.origin.sent_after,
            answered_before: Some(sent.origin.sequence),
            detail: Detail { worker: Some(worker.incarnation), ..detail },
            judged: Vec::new(),
        });
    }

    pub(crate) fn submit(&self) -> JobId {
        let job = self.ids.new_job_id();
        let spec = JobSpec {
            command: Some(protocol::job::Command {
                argv: vec!["true".to_owned()],
                cwd: None,
                env: Vec::new(),
            }),
            retry: RetryPolicy { base_ms: 0, cap_ms: 0 },
            ..JobSpec::default()
        };
        let sent = self.agent.send();
        only(self.now(self.durable.submit(&sent.origin, &[Submit { job, spec, retry_of: None }])));
        job
    }

    /// `DispatchRead` at the job's present revision, or at one given, and `Enqueue`.
    pub(crate) fn enqueue(&self, job: JobId, read_at: Option<Mark>) {
        self.register();
        let phase = self.now(self.durable.phases(&[job])).unwrap().remove(0).unwrap();
        let (_sent, at) = self.at(&self.agent);
        let request = Enqueue {
            job,
            window: window(),
            position: Position { due: Timestamp(0), sequence: 1 },
            checkpoint_revision: 0,
            judged: vec![Judged::durable(read_at.unwrap_or(phase.mark))],
        };
        only(self.now(self.memory.enqueue(&at, &[request])));
    }

    pub(crate) fn reserve(&self, worker: &Worker) -> Option<(ReservationId, Mark)> {
        let reservation = self.ids.new_reservation_id();
        let (_sent, at) = self.at(&worker.caller);
        let request =
            Reserve { worker: worker.incarnation, reservations: vec![reservation], windows: vec![window()] };
        let answer = only(self.now(self.memory.reserve(&at, &request)));
        answer.step.taken().map(|_| (reservation, answer.mark))
    }

    pub(crate) fn claim(
        &self,
        worker: &Worker,
        job: JobId,
        reservation: (ReservationId, Mark),
    ) -> Option<Held> {
        let revision = self.now(self.durable.checkpoint(job)).unwrap().map_or(0, |found| found.revision);
        let attempt = self.ids.new_attempt_id();
        let sent = worker.caller.send();
        let request = AuthorizeAttempt {
            job,
            attempt,
            worker: worker.incarnation,
            reservation: reservation.0,
            epoch: self.epoch.load(Ordering::Relaxed),
            checkpoint_revision: revision,
            judged: vec![Judged::coordination(reservation.1)],
        };
        let answer = only(self.now(self.durable.authorize_attempt(&sent.origin, &[request])));
        let mark = answer.mark;
        let token = answer.step.taken()?.token;
        Some(Held { job, attempt, token, reservation: reservation.0, mark })
    }

    pub(crate) fn hand_back(&self, worker: &Worker, job: JobId, reservation: ReservationId) {
        let (_sent, at) = self.at(&worker.caller);
        let request = HandBack { job, reservation, worker: worker.incarnation };
        only(self.now(self.memory.claim_refused(&at, &[request])));
    }

    pub(crate) fn activate(&self, worker: &Worker, held: &Held) {
        let (_sent, at) = self.at(&worker.caller);
        let request = ActivateAttempt {
            job: held.job,
            attempt: held.attempt,
            token: held.token,
            reservation: held.reservation,
            worker: worker.incarnation,
            judged: vec![Judged::durable(held.mark)],
        };
        only(self.now(self.memory.activate_attempt(&at, &[request])));
    }

    /// All the way from the outbox to execution.
    pub(crate) fn execute(&self, worker: &Worker, job: JobId) -> Held {
        self.enqueue(job, None);
        let reservation = self.reserve(worker).unwrap();
        let held = self.claim(worker, job, reservation).unwrap();
        self.activate(worker, &held);
        held
    }

    pub(crate) fn renew(&self, worker: &Worker, held: &Held) {
        let (_sent, at) = self.at(&worker.caller);
        let request = RenewLease { job: held.job, attempt: held.attempt, worker: worker.incarnation };
        only(self.now(self.memory.renew_lease(&at, &[request])));
    }

    pub(crate) fn restore(&self, worker: &Worker, held: &Held) {
        let (_sent, at) = self.at(&worker.caller);
        let request = RestoreLease {
            job: held.job,
            attempt: held.attempt,
            token: held.token,
            worker: worker.incarnation,
            judged: vec![Judged::durable(held.mark)],
        };
        only(self.now(self.memory.restore_lease(&at, &[request])));
    }

    pub(crate) fn advance(&self, worker: &Worker, held: &Held, progress: Option<u64>) {
        self.record(worker, Action::AdvanceAttempt, Some(held), Detail { progress, ..Detail::default() });
    }

    /// What is sealed becomes durable.
    pub(crate) fn checkpoint(&self, worker: &Worker, held: &Held, progress: u64) {
        self.advance(worker, held, Some(progress));
        let sent = worker.caller.send();
        let request = PersistCheckpoint {
            job: held.job,
            attempt: held.attempt,
            token: held.token,
            progress,
            user: UserProgress::default(),
            state: Document::empty(),
            manifest: Document::empty(),
        };
        only(self.now(self.durable.persist_checkpoint(&sent.origin, &[request])));
    }

    pub(crate) fn send(&self, worker: &Worker, held: &Held, cause: Option<FailureCause>) {
        self.record(worker, Action::SendOutcome, Some(held), Detail { cause, ..Detail::default() });
    }

    pub(crate) fn publish(&self, worker: &Worker, held: &Held) {
        let sent = worker.caller.send();
        let request = AcceptSuccess {
            job: held.job,
            attempt: held.attempt,
            token: held.token,
            result: ResultRecord { manifest: Document::empty(), digest: [0; 32], files: 0, bytes: 0 },
        };
        only(self.now(self.durable.accept_success(&sent.origin, &[request])));
    }

    /// All written, sent, and answered.
    pub(crate) fn succeed(&self, worker: &Worker, held: &Held) {
        self.advance(worker, held, None);
        self.send(worker, held, None);
        self.publish(worker, held);
    }

    pub(crate) fn fail(&self, worker: &Worker, held: &Held) {
        self.send(worker, held, Some(FailureCause::Failed));
        let sent = worker.caller.send();
        let request = AcceptFailure {
            job: held.job,
            attempt: held.attempt,
            token: held.token,
            cause: FailureCause::Failed,
            error: "no".to_owned(),
            exit: None,
            chance: 0,
        };
        only(self.now(self.durable.accept_failure(&sent.origin, &[request])));
    }

    pub(crate) fn stop(&self, worker: &Worker, held: &Held) {
        self.record(worker, Action::CooperativeStop, Some(held), Detail::default());
    }

    pub(crate) fn release(&self, worker: &Worker, held: &Held) {
        let read = self.now(self.durable.phases(&[held.job])).unwrap().remove(0).unwrap();
        let (_sent, at) = self.at(&worker.caller);
        let judged = vec![Judged::durable(read.mark)];
        let request = ReleaseLease { job: held.job, attempt: held.attempt, judged };
        only(self.now(self.memory.release_lease(&at, &[request])));
    }

    /// A lease length passes, and the reaper looks.
    pub(crate) fn expire(&self) {
        self.wait(LEASE_MS + 1);
        let (_sent, at) = self.at(&self.agent);
        self.now(self.memory.expire_lease(&at, 100)).unwrap();
    }

    pub(crate) fn observe(&self, worker: &Worker, held: &Held) -> Mark {
        let (_sent, at) = self.at(&self.agent);
        let request = ReapObserve {
            job: held.job,
            attempt: held.attempt,
            worker: worker.incarnation,
            claimed_epoch: at.epoch,
            by_holder: false,
        };
        only(self.now(self.memory.reap_observe(&at, &[request]))).mark
    }

    pub(crate) fn reap(&self, held: &Held, observed: Mark) {
        let sent = self.agent.send();
        let request = ReapLostAttempt {
            job: held.job,
            attempt: held.attempt,
            token: held.token,
            error: "lost".to_owned(),
            chance: 0,
            judged: vec![Judged::coordination(observed)],
        };
        only(self.now(self.durable.reap_lost_attempt(&sent.origin, &[request])));
    }

    pub(crate) fn schedule(&self, job: JobId) {
        self.wait(1_000);
        let sent = self.agent.send();
        only(self.now(self.durable.schedule_retry(&sent.origin, &[ScheduleRetry { job }])));
    }

    /// The worker is lost, and the job is queued again.
    pub(crate) fn lose_worker(&self, worker: &Worker, held: &Held) -> Mark {
        self.expire();
        let observed = self.observe(worker, held);
        self.reap(held, observed);
        self.schedule(held.job);
        observed
    }

    pub(crate) fn cancel(&self, job: JobId) {
        let sent = self.agent.send();
        only(self.now(self.durable.request_cancel(&sent.origin, &[RequestCancel { job }])));
    }

    pub(crate) fn notice(&self, held: &Held) {
        let read = self.now(self.durable.phases(&[held.job])).unwrap().remove(0).unwrap();
        let (_sent, at) = self.at(&self.agent);
        let judged = vec![Judged::durable(read.mark)];
        let request = PublishCancelNotice { job: held.job, attempt: held.attempt, judged };
        only(self.now(self.memory.publish_cancel_notice(&at, &[request])));
    }

    pub(crate) fn finalize(&self, worker: &Worker, held: &Held) {
        let sent = worker.caller.send();
        let request = FinalizeCancel { job: held.job, attempt: held.attempt, judged: Vec::new() };
        only(self.now(self.durable.finalize_cancel(&sent.origin, &[request])));
    }
}
