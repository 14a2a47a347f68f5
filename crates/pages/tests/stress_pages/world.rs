//! A prepared world: jobs in every situation that an operator asks about, over real rooms whose clocks stand still.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use api::Api;
use api::conformance::Place;
use api::v1::Submission;
use coordination::{
    ActivateAttempt, At, Coordination as _, Enqueue, Registration, ReleaseLease, ReportProgress, Reserve,
};
use durable::{
    AcceptFailure, Access, AuthorizeAttempt, Configure, Document, Durable as _, DurableReads as _,
    PersistCheckpoint, ProgramExit, ReapLostAttempt, ScheduleRetry,
};
use protocol::{
    ActorId, AttemptId, FailureCause, Incarnation, JobId, Origin, ReservationId, UserProgress, id,
};
use serde_json::value::RawValue;
use target::{Manifest, StageId};
use tokio::net::TcpListener;
use web::{Handle, Options, Served, serve};

pub(crate) const EVIL: &str = "\"><img src=x onerror=alert(1)>";
const ANNA: Incarnation = Incarnation(21);
const BERT: Incarnation = Incarnation(22);

/// A picture of one dot.
const PICTURE: &[u8] = include_bytes!("dot.png");

pub(crate) struct World {
    pub(crate) place: Place,
    pub(crate) handle: Handle,
    next: AtomicU64,
    /// Waits behind the limit, longest of all.
    pub(crate) waiting: JobId,
    pub(crate) running: StageId,
    /// Its first attempt was fenced.
    pub(crate) fenced: JobId,
    pub(crate) failed: JobId,
    pub(crate) succeeded: JobId,
    /// Has hostile texts wherever there may be texts.
    pub(crate) odd: JobId,
}

#[track_caller]
fn taken<T>(answer: protocol::Stamped<T>) -> T {
    answer.step.taken().expect("the step is taken")
}

fn command(words: &[&str]) -> Submission {
    Submission {
        kind: Some("exec".to_owned()),
        command: Some(words.iter().map(ToString::to_string).collect()),
        ..Submission::default()
    }
}

/// The steps of a job's life, by hand.
struct Hand {
    place: Place,
    next: AtomicU64,
    /// The workers that live: each tells so as time passes.
    crew: Mutex<Vec<Registration>>,
}

impl Hand {
    fn origin(&self) -> Origin {
        let sequence = self.next.fetch_add(1, Ordering::Relaxed);
        Origin { actor: ActorId(9), sequence, sent_after: 0 }
    }

    fn at(&self) -> At {
        At { origin: self.origin(), epoch: 1 }
    }

    fn number(&self) -> u128 {
        self.next.fetch_add(1, Ordering::Relaxed).into()
    }

    async fn submit(&self, job: Submission) -> JobId {
        self.place.direct().submit(vec![job]).await.unwrap().remove(0).into_result().unwrap().job
    }

    async fn register(&self, worker: Incarnation, name: &str, slots: u32) {
        let registration = Registration {
            worker,
            name: name.to_owned(),
            pid: 4_711,
            host: "desk".to_owned(),
            slots,
            queues: None,
            kinds: vec!["exec".to_owned(), "ocr".to_owned()],
            draining: false,
        };
        self.crew.lock().unwrap().push(registration);
        self.pass(0).await;
    }

    /// Time goes on.
    async fn pass(&self, ms: u64) {
        self.place.advance(ms);
        let crew = self.crew.lock().unwrap().clone();
        for worker in crew {
            self.place.coordination.register(&self.at(), &worker).await.unwrap();
        }
    }

    /// Its place is free again.
    async fn release(&self, stage: &StageId) {
        let release = ReleaseLease { job: stage.job, attempt: stage.attempt, judged: vec![] };
        taken(self.place.coordination.release_lease(&self.at(), &[release]).await.unwrap().remove(0));
    }

    async fn run(&self, job: JobId, worker: Incarnation) -> StageId {
        let found = self.place.durable.dispatch_read_jobs(&[job]).await.unwrap().remove(0);
        let entry = Enqueue {
            job,
            window: found.window.clone(),
            position: found.position,
            checkpoint_revision: found.checkpoint_revision,
            judged: vec![],
        };
        taken(self.place.coordination.enqueue(&self.at(), &[entry]).await.unwrap().remove(0));
        let reservation = ReservationId(self.number());
        let request = Reserve { worker, reservations: vec![reservation], windows: vec![found.window] };
        taken(self.place.coordination.reserve(&self.at(), &request).await.unwrap().remove(0));
        let attempt = AttemptId(id::v7(9, self.number()));
        let claim = AuthorizeAttempt {
            job,
            attempt,
            worker,
            reservation,
            epoch: 1,
            checkpoint_revision: found.checkpoint_revision,
            judged: vec![],
        };
        let claimed = self.place.durable.authorize_attempt(&self.origin(), &[claim]).await.unwrap().remove(0);
        let token = taken(claimed).token;
        let lease = ActivateAttempt { job, attempt, token, reservation, worker, judged: vec![] };
        taken(self.place.coordination.activate_attempt(&self.at(), &[lease]).await.unwrap().remove(0));
        StageId { job, token, attempt }
    }

    async fn progress(&self, stage: &StageId, worker: Incarnation, progress: UserProgress) {
        let StageId { job, attempt, .. } = *stage;
        let report = ReportProgress { job, attempt, worker, progress, judged: vec![] };
        taken(self.place.coordination.report_progress(&self.at(), &[report]).await.unwrap().remove(0));
    }

    async fn checkpoint(&self, stage: &StageId, progress: u64, message: &str) {
        let manifest = Manifest { entries: vec![] };
        let checkpoint = PersistCheckpoint {
            job: stage.job,
            attempt: stage.attempt,
            token: stage.token,
            progress,
            user: UserProgress { done: progress * 10, total: Some(100), message: Some(message.to_owned()) },
            state: Document::Inline(b"state".to_vec()),
            manifest: Document::Inline(manifest.encode().unwrap()),
        };
        let answers = self.place.durable.persist_checkpoint(&self.origin(), &[checkpoint]).await;
        taken(answers.unwrap().remove(0));
    }

    async fn fail(&self, stage: &StageId, error: &str) {
        let failure = AcceptFailure {
            job: stage.job,
            attempt: stage.attempt,
            token: stage.token,
            cause: FailureCause::Permanent,
            error: error.to_owned(),
            exit: Some(ProgramExit::Code(3)),
            chance: 0,
        };
        taken(self.place.durable.accept_failure(&self.origin(), &[failure]).await.unwrap().remove(0));
        self.release(stage).await;
    }

    /// The lease is over, the attempt is reaped, and another worker goes on.
    async fn lose(&self, stage: &StageId) {
        self.crew.lock().unwrap().clear();
        self.pass(15_000).await;
        self.place.coordination.expire_lease(&self.at(), 10).await.unwrap();
        let reap = ReapLostAttempt {
            job: stage.job,
            attempt: stage.attempt,
            token: stage.token,
            error: "the worker anna was lost: its lease ended".to_owned(),
            chance: 0,
            judged: vec![],
        };
        taken(self.place.durable.reap_lost_attempt(&self.origin(), &[reap]).await.unwrap().remove(0));
        let retry = ScheduleRetry { job: stage.job };
        taken(self.place.durable.schedule_retry(&self.origin(), &[retry]).await.unwrap().remove(0));
    }

    async fn limit(&self, global: u32) {
        let change = Configure { global_limit: Some(global), ..Configure::default() };
        let row = self.place.durable.configure(&self.origin(), &change).await.unwrap();
        taken(self.place.coordination.configure(&self.at(), &row.config()).await.unwrap());
    }

    async fn succeed(&self) -> JobId {
        let job = self.submit(command(&["./render.sh", "--scene", "harbour"])).await;
        let stage = self.run(job, BERT).await;
        self.place.write_log(&stage, "loading harbour\nrendering 240 frames\nwritten: film.txt\n").await;
        let files: [(&str, &[u8]); 3] =
            [("film.txt", b"frame 1\nframe 2\n"), ("dot.png", PICTURE), ("notes/readme.md", b"# Harbour\n")];
        self.place.publish(&stage, &files).await;
        self.release(&stage).await;
        job
    }

    async fn odd(&self) -> JobId {
        let args = serde_json::to_string(&[EVIL, "javascript:alert(2)"]).unwrap();
        let job = Submission {
            args: Some(RawValue::from_string(args).unwrap()),
            kind: Some("ocr".to_owned()),
            idempotency_key: Some(EVIL.to_owned()),
            ..Submission::default()
        };
        let job = self.submit(job).await;
        let stage = self.run(job, Incarnation(23)).await;
        self.place.write_log(&stage, EVIL).await;
        self.checkpoint(&stage, 1, EVIL).await;
        self.place.publish(&stage, &[(EVIL, EVIL.as_bytes()), ("javascript:alert(3)", b"x")]).await;
        self.release(&stage).await;
        job
    }

    /// A job whose program has hostile words, and which failed with a hostile error.
    async fn odd_failure(&self) {
        let job =
            self.submit(Submission { cwd: Some(EVIL.to_owned()), ..command(&[EVIL, "javascript:alert(4)"]) });
        let stage = self.run(job.await, BERT).await;
        self.fail(&stage, EVIL).await;
    }
}

impl World {
    pub(crate) async fn prepare() -> Self {
        let hand =
            Hand { place: Place::still().await, next: AtomicU64::new(1_000_000), crew: Mutex::default() };
        hand.register(ANNA, "anna", 2).await;
        let lost = command(&["python3", "train.py", "--epochs", "90"]);
        let fenced = hand.submit(lost).await;
        let stage = hand.run(fenced, ANNA).await;
        hand.pass(40_000).await;
        hand.checkpoint(&stage, 3, "epoch 30").await;
        hand.pass(20_000).await;
        hand.lose(&stage).await;
        hand.register(BERT, "bert", 4).await;
        hand.register(Incarnation(23), EVIL, 1).await;
        let odd = hand.odd().await;
        hand.odd_failure().await;
        hand.pass(60_000).await;
        let succeeded = hand.succeed().await;
        let failed = hand.submit(command(&["./export.sh", "--day", "2026-02-30"])).await;
        let stage = hand.run(failed, BERT).await;
        hand.place.write_log(&stage, "exporting 2026-02-30\n").await;
        hand.fail(&stage, "no such day: 2026-02-30").await;
        hand.pass(60_000).await;
        let stage = hand.run(fenced, BERT).await;
        hand.place.write_log(&stage, "going on from epoch 30\n").await;
        let running = hand.submit(command(&["ffmpeg", "-i", "harbour.mov", "harbour.webm"])).await;
        let running = hand.run(running, BERT).await;
        hand.place.write_log(&running, "frame 1204 fps 31\n").await;
        let progress = UserProgress { done: 1_204, total: Some(7_200), message: Some("pass 1".to_owned()) };
        hand.progress(&running, BERT, progress).await;
        hand.limit(2).await;
        hand.pass(7_000).await;
        let waiting = hand.submit(command(&["./backup.sh", "--full", "/srv/photos"])).await;
        hand.pass(3_000).await;
        for day in ["monday", "tuesday"] {
            hand.submit(Submission { queue: Some("reports".to_owned()), ..command(&["./report.sh", day]) })
                .await;
        }
        let handle = open(&hand.place, Options::default()).await;
        let Hand { place, next, .. } = hand;
        Self { place, handle, next, waiting, running, fenced, failed, succeeded, odd }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("{}{path}", self.handle.url())
    }

    /// The running job goes on.
    pub(crate) async fn go_on(&self, done: u64, message: &str) {
        let sequence = self.next.fetch_add(1, Ordering::Relaxed);
        let at = At { origin: Origin { actor: ActorId(9), sequence, sent_after: 0 }, epoch: 1 };
        let progress = UserProgress { done, total: Some(7_200), message: Some(message.to_owned()) };
        let StageId { job, attempt, .. } = self.running;
        let report = ReportProgress { job, attempt, worker: BERT, progress, judged: vec![] };
        taken(self.place.coordination.report_progress(&at, &[report]).await.unwrap().remove(0));
    }
}

/// A server with pages over a place.
pub(crate) async fn open(place: &Place, mut options: Options) -> Handle {
    let api: Arc<dyn Api> = Arc::new(place.direct());
    options.extra = remora_pages::router(Arc::clone(&api));
    options.public = remora_pages::PUBLIC.map(str::to_owned).into();
    options.problem_page = Some(remora_pages::problem_page);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let served = Served { api, access: Arc::clone(&place.durable) as Arc<dyn Access> };
    serve(listener, served, options).await.unwrap()
}
