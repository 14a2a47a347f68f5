//! Rooms for a case, and the steps of a job's life by hand.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use coordination::memory::{self, MemoryRoom};
use coordination::{At, Coordination as _, PoolConfig, Registration};
use durable::sqlite::{Options, SqliteRoom};
use durable::{
    AcceptFailure, AcceptSuccess, AuthorizeAttempt, Document, Durable as _, Listing as _, ProgramExit,
    ResultRecord,
};
use protocol::{
    ActorId, AttemptId, FailureCause, Incarnation, JobId, Origin, ReservationId, Timestamp, Token, id,
};
use target::file::FileTarget;
use target::{Digest, Entry, Manifest, Node, StageId, Target as _};
use tempfile::TempDir;

use crate::v1::Submission;
use crate::{Api as _, Direct, DirectRooms};

/// The worker that runs what a case runs.
pub(super) const WORKER: Incarnation = Incarnation(11);

/// An embedded installation: SQLite, coordination in memory, a folder as target. No agent and no worker runs.
pub struct Place {
    /// The durable room.
    pub durable: Arc<SqliteRoom>,
    /// Coordination, open in epoch 1.
    pub coordination: Arc<MemoryRoom>,
    /// The target.
    pub target: Arc<FileTarget>,
    folder: TempDir,
    next: AtomicU64,
    time: Arc<AtomicU64>,
}

impl Place {
    /// A fresh one.
    ///
    /// # Panics
    /// When it cannot be made.
    pub async fn new() -> Self {
        Self::with(Options::default(), memory::Options::default()).await
    }

    /// A fresh one whose clocks stand still but for [`Place::advance`].
    ///
    /// # Panics
    /// When it cannot be made.
    pub async fn still() -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis();
        let time = Arc::new(AtomicU64::new(u64::try_from(now).unwrap()));
        let (durable, memory) = (Arc::clone(&time), Arc::clone(&time));
        let read = move || Timestamp(i64::try_from(durable.load(Ordering::Relaxed)).unwrap());
        let place = Self::with(
            Options { time: Arc::new(read), ..Options::default() },
            memory::Options {
                clock: Arc::new(move || Duration::from_millis(memory.load(Ordering::Relaxed))),
                ..memory::Options::default()
            },
        );
        Self { time, ..place.await }
    }

    /// Lets both clocks go on.
    pub fn advance(&self, ms: u64) {
        self.time.fetch_add(ms, Ordering::Relaxed);
    }

    async fn with(durable: Options, memory: memory::Options) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let durable = SqliteRoom::open(folder.path().join("remora.db"), durable).unwrap();
        let place = Self {
            durable: Arc::new(durable),
            coordination: Arc::new(MemoryRoom::new(memory)),
            target: Arc::new(FileTarget::new(folder.path().join("target"))),
            folder,
            next: AtomicU64::new(1),
            time: Arc::default(),
        };
        place.coordination.install_epoch(1, protocol::InstallationId(1)).await.unwrap();
        let config = PoolConfig { revision: 1, global_limit: 1_000, lease_ms: 15_000, paused: vec![] };
        place.coordination.configure(&place.at(), &config).await.unwrap();
        place.coordination.open_epoch(&place.at()).await.unwrap();
        place
    }

    /// The port over these rooms.
    #[must_use]
    pub fn direct(&self) -> Direct {
        let (durable, coordination) = (Arc::clone(&self.durable), Arc::clone(&self.coordination));
        Direct::new(DirectRooms::of(
            durable,
            coordination,
            Arc::clone(&self.target) as Arc<dyn target::Target>,
        ))
    }

    pub(crate) fn number(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    pub(crate) fn origin(&self) -> Origin {
        Origin { actor: ActorId(7), sequence: self.number(), sent_after: 0 }
    }

    pub(crate) fn at(&self) -> At {
        At { origin: self.origin(), epoch: 1 }
    }

    /// Submits a job of a kind.
    pub async fn submit(&self, kind: &str) -> JobId {
        let job = Submission { kind: Some(kind.to_owned()), ..Submission::default() };
        self.direct().submit(vec![job]).await.unwrap().remove(0).into_result().unwrap().job
    }

    /// Registers the worker; answers whether it was asked to drain.
    pub async fn register(&self) -> bool {
        let registration = Registration {
            worker: WORKER,
            name: "anna".to_owned(),
            pid: 7,
            host: "desk".to_owned(),
            slots: 2,
            queues: None,
            kinds: vec!["exec".to_owned()],
            draining: false,
        };
        let registered = self.coordination.register(&self.at(), &registration).await.unwrap();
        registered.step.taken().unwrap().drain
    }

    /// Claims the job for the worker.
    pub async fn claim(&self, job: JobId) -> StageId {
        let attempt = AttemptId(id::v7(self.number(), 6));
        let claim = AuthorizeAttempt {
            job,
            attempt,
            worker: WORKER,
            reservation: ReservationId(12),
            epoch: 1,
            checkpoint_revision: 0,
            judged: Vec::new(),
        };
        let answers = self.durable.authorize_attempt(&self.origin(), &[claim]).await.unwrap();
        let token = answers.into_iter().next().unwrap().step.taken().unwrap().token;
        StageId { job, token, attempt }
    }

    /// Writes to the attempt's log.
    pub async fn write_log(&self, stage: &StageId, text: &str) {
        let mut log = self.target.open_log(stage).await.unwrap();
        log.append(text.as_bytes());
        log.flush().await;
    }

    /// Publishes these files, and a folder and a link beside them.
    pub async fn publish(&self, stage: &StageId, files: &[(&str, &[u8])]) {
        let mut entries = vec![
            Entry { path: "folder".to_owned(), node: Node::Folder },
            Entry { path: "link".to_owned(), node: Node::Link { to: "folder".to_owned() } },
        ];
        for (number, (path, bytes)) in (0_u64..).zip(files) {
            let part = self.target.seal_bytes(stage, number, bytes.to_vec()).await.unwrap();
            let parts = if bytes.is_empty() { vec![] } else { vec![part] };
            entries.push(Entry { path: (*path).to_owned(), node: Node::File { parts, executable: false } });
        }
        entries.sort_by(|one, two| one.path.cmp(&two.path));
        let manifest = self.target.lay_out(stage, &Manifest { entries }).await.unwrap();
        let bytes = manifest.encode().unwrap();
        let result = ResultRecord {
            digest: Digest::of(&bytes).0,
            manifest: Document::Inline(bytes),
            files: manifest.files(),
            bytes: manifest.bytes(),
        };
        let success = AcceptSuccess { job: stage.job, attempt: stage.attempt, token: stage.token, result };
        let answers = self.durable.accept_success(&self.origin(), &[success]).await.unwrap();
        answers.into_iter().next().unwrap().step.taken().unwrap();
        self.nudge(stage.job).await;
    }

    /// Fails the attempt for good.
    pub async fn fail(&self, stage: &StageId, error: &str) {
        let failure = AcceptFailure {
            job: stage.job,
            attempt: stage.attempt,
            token: stage.token,
            cause: FailureCause::Permanent,
            error: error.to_owned(),
            exit: Some(ProgramExit::Code(3)),
            chance: 0,
        };
        let answers = self.durable.accept_failure(&self.origin(), &[failure]).await.unwrap();
        answers.into_iter().next().unwrap().step.taken().unwrap();
        self.nudge(stage.job).await;
    }

    async fn nudge(&self, job: JobId) {
        self.coordination.nudge(&[job]).await.unwrap();
    }

    /// How many jobs there are.
    pub async fn count(&self) -> u64 {
        self.durable.counts().await.unwrap().iter().map(|count| count.jobs).sum()
    }

    /// Where it lies.
    #[must_use]
    pub fn folder(&self) -> &std::path::Path {
        self.folder.path()
    }

    /// A job that nobody has.
    #[must_use]
    pub fn stranger(&self) -> JobId {
        JobId(id::v7(5, 5))
    }

    /// A token that no attempt has.
    pub const NO_TOKEN: Token = Token(9);
}
