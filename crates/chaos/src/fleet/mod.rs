//! An installation of one's own: PostgreSQL, a server of Redis' protocol and one of S3's, `remora server`s and `remora
//! worker`s, every link of every process through a proxy.
//!
//! Promises as the crate does: all of it ends with the value, and what was recorded is then audited.

mod fault;
mod hardship;
pub(crate) mod process;
mod state;
mod weather;

use std::collections::HashSet;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use coordination::dragonfly::{self, DragonflyRoom};
use durable::postgres::{PostgresRoom, migrate};
use durable::{JobView, Submit};
use protocol::{JobId, JobSpec};
use remora::{Client, DataFolder, RoomUrls, Rooms};
use target::s3::{Keys, S3Options, S3Target};
use target::{StageId, Target};
use testbed::s3::{ACCESS_KEY, BUCKET, S3Server, SECRET_KEY};
use testbed::{Folder, Postgres, Redis};

use crate::dev::audited;
use crate::proxy::Proxy;
use crate::wait::eventually;
pub use fault::{Bad, Fault, Room, Struck};
pub use hardship::Audited;
use process::{Process, Role};
pub use state::Sight;
pub use weather::{Blown, Weather};

/// How long an installation may take to answer.
const PATIENCE: Duration = Duration::from_secs(30);

/// How to start one.
#[derive(Debug, Clone, Copy)]
pub struct FleetOptions {
    /// `remora server` processes.
    pub servers: u32,
    /// `remora worker` processes.
    pub workers: u32,
    /// Slots of each worker.
    pub slots: u32,
    /// The lease length.
    pub lease: Duration,
}

/// The three stores.
pub struct Stores {
    /// Truth.
    pub postgres: Postgres,
    /// Coordination.
    pub redis: Redis,
    /// Results.
    pub s3: S3Server,
}

/// A running installation.
pub struct Fleet {
    program: PathBuf,
    place: Folder,
    options: FleetOptions,
    stores: Stores,
    /// Where Redis is found, whichever server that is.
    redis_name: Proxy,
    processes: Vec<Process>,
    /// A worker's work folders on a file system of their own.
    small_disk: Option<PathBuf>,
    /// What the wall clock of a worker is set by.
    clock: Option<PathBuf>,
    is_audited: bool,
    client: Client,
    target: Arc<dyn Target>,
}

fn urls(postgres: u16, redis: u16, s3: u16) -> RoomUrls {
    RoomUrls {
        durable: format!("postgres://postgres@127.0.0.1:{postgres}/postgres"),
        coordination: format!("redis://127.0.0.1:{redis}"),
        target: format!("s3://{BUCKET}/results?endpoint=http://127.0.0.1:{s3}&retry_ms=10000&answer_ms=3000"),
    }
}

fn local(port: u16) -> SocketAddr {
    SocketAddr::from((Ipv4Addr::LOCALHOST, port))
}

impl Stores {
    fn urls(&self) -> RoomUrls {
        urls(self.postgres.port(), self.redis.port(), self.s3.port())
    }
}

impl Fleet {
    /// Starts the stores, makes the schema, and starts the processes.
    ///
    /// # Errors
    /// When something does not start.
    pub async fn start(program: &str, options: FleetOptions) -> anyhow::Result<Self> {
        let starting = tokio::task::spawn_blocking(|| Stores {
            postgres: Postgres::start(),
            redis: Redis::start(),
            s3: S3Server::start(),
        });
        let stores = starting.await?;
        let mut urls = stores.urls();
        migrate::up(&urls.durable, &migrate::Setup::default()).await?;
        let redis_name = Proxy::start(local(stores.redis.port())).await?;
        urls.coordination = format!("redis://{}", redis_name.address());
        let rooms = rooms(&urls).await?;
        let mut fleet = Self {
            program: program.into(),
            place: Folder::new("fleet"),
            options,
            stores,
            redis_name,
            processes: Vec::new(),
            small_disk: None,
            clock: None,
            is_audited: false,
            client: Client::of(&rooms),
            target: rooms.target,
        };
        for number in 0..options.servers {
            fleet.add(Role::Server, number).await?;
        }
        for number in 0..options.workers {
            fleet.add(Role::Worker, number).await?;
        }
        fleet.all_registered().await?;
        Ok(fleet)
    }

    async fn all_registered(&self) -> anyhow::Result<()> {
        let workers = usize::try_from(self.options.workers)?;
        eventually("all workers have registered", PATIENCE, || async {
            let seen = self.client.workers().await.map_or(0, |workers| workers.len());
            Ok((seen >= workers).then_some(()))
        })
        .await
        .with_context(|| self.log())
    }

    async fn add(&mut self, role: Role, number: u32) -> anyhow::Result<()> {
        let ports = [self.stores.postgres.port(), self.stores.redis.port(), self.stores.s3.port()];
        let process = Process::new(role, number, ports).await?;
        self.processes.push(process);
        let last = self.processes.len() - 1;
        self.start_process(last)
    }

    fn start_process(&mut self, index: usize) -> anyhow::Result<()> {
        let log = self.place.path().join("fleet.log");
        let data = self.data();
        self.processes[index].start(&self.program, data.root(), &log, self.options)
    }

    /// Starts again what has died, as a supervisor does; how many those were.
    ///
    /// # Errors
    /// When one cannot be started.
    pub fn revive(&mut self) -> anyhow::Result<u32> {
        let mut started = 0;
        for index in 0..self.processes.len() {
            if self.processes[index].is_due() {
                self.processes[index].kill();
                self.start_process(index)?;
                started += 1;
            }
        }
        Ok(started)
    }

    fn kill_all(&mut self) {
        self.processes.iter_mut().for_each(Process::kill);
        let small = self.place.path().join("small");
        for folder in [self.data().root(), &small] {
            crate::processes::of_folder(folder).iter().for_each(|found| crate::processes::kill(found.pid));
        }
    }

    /// The resident size of the largest process of each kind.
    pub fn sizes(&mut self) -> [(&'static str, u64); 2] {
        [("server", Role::Server), ("worker", Role::Worker)].map(|(name, role)| {
            let sizes = self.pids_of(role).into_iter().map(crate::processes::resident_bytes);
            (name, sizes.max().unwrap_or_default())
        })
    }

    /// After another server has become Redis.
    fn lead_to_redis(&self) {
        let server = local(self.stores.redis.port());
        self.redis_name.lead_to(server);
        self.processes.iter().for_each(|process| process.links[1].lead_to(server));
    }

    /// What processes of this machine need.
    #[must_use]
    pub fn data(&self) -> DataFolder {
        DataFolder::new(self.place.path().join("data"))
    }

    /// A folder beside it.
    #[must_use]
    pub fn place(&self) -> &Path {
        self.place.path()
    }

    /// The stores.
    pub fn stores(&mut self) -> &mut Stores {
        &mut self.stores
    }

    /// What the processes said.
    #[must_use]
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.place.path().join("fleet.log")).unwrap_or_default()
    }

    /// A client, straight to the stores.
    #[must_use]
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// The URLs of the stores themselves.
    #[must_use]
    pub fn urls(&self) -> RoomUrls {
        self.stores.urls()
    }

    /// The lease length.
    #[must_use]
    pub fn lease(&self) -> Duration {
        self.options.lease
    }

    /// Submits many jobs.
    ///
    /// # Errors
    /// When one is refused.
    pub async fn submit(&self, specs: impl IntoIterator<Item = JobSpec>) -> anyhow::Result<Vec<JobId>> {
        let mut jobs = Vec::new();
        for spec in specs {
            jobs.push(self.client.submit(spec).await?.job);
        }
        Ok(jobs)
    }

    /// A job as the ledger has it.
    ///
    /// # Errors
    /// When there is none.
    pub async fn job(&self, job: JobId) -> anyhow::Result<JobView> {
        self.reader().job(job).await
    }

    /// A published file's text.
    ///
    /// # Errors
    /// When nothing was published, or not this file.
    pub async fn published(&self, view: &JobView, file: &str) -> anyhow::Result<String> {
        self.reader().published(view, file).await
    }

    /// Reads jobs and results, apart from the installation.
    #[must_use]
    pub fn reader(&self) -> Reader {
        Reader { client: self.client.clone(), target: Arc::clone(&self.target) }
    }

    /// What is left although every job has ended: places, queue entries, holdings, stages that are no result.
    ///
    /// # Errors
    /// When a room gives no answer.
    pub async fn leftovers(&self, views: &[JobView]) -> anyhow::Result<Vec<String>> {
        let published: HashSet<StageId> = views.iter().filter_map(stage_of).collect();
        self.leftovers_beside(&published).await
    }

    /// The same beside the stages of these results.
    ///
    /// # Errors
    /// When a room gives no answer.
    pub async fn leftovers_beside(&self, published: &HashSet<StageId>) -> anyhow::Result<Vec<String>> {
        let coordination = self.client.coordination();
        let pool = coordination.pool().await?;
        let mut left = Vec::new();
        for (what, count) in [
            ("leases", pool.leases),
            ("reservations", pool.reservations),
            ("unaccounted attempts", pool.unaccounted),
            ("queue entries", pool.queued),
        ] {
            if count > 0 {
                left.push(format!("{count} {what}"));
            }
        }
        let holdings = coordination.holdings(None, 500).await?;
        left.extend(holdings.jobs.iter().map(|holding| format!("{holding:?}")));
        let stages = self.target.old_stages(Duration::ZERO).await?;
        let stages = stages.iter().filter(|stage| !published.contains(stage));
        left.extend(stages.map(|stage| format!("the stage {}", stage.prefix())));
        Ok(left)
    }

    /// Submits many jobs in one transaction.
    ///
    /// # Errors
    /// When one is refused.
    pub async fn submit_at_once(&self, specs: &[JobSpec]) -> anyhow::Result<Vec<JobId>> {
        let runtime = runtime::Runtime::system();
        let submit =
            |spec: &JobSpec| Submit { job: runtime.new_job_id(), spec: spec.clone(), retry_of: None };
        let batch: Vec<Submit> = specs.iter().map(submit).collect();
        let sent = self.client.send();
        let answers = sent.of(self.client.durable().submit(&sent.origin, &batch)).await?;
        let jobs: Vec<JobId> = batch.iter().map(|one| one.job).collect();
        for (job, answer) in jobs.iter().zip(answers) {
            remora::answer_about(*job, vec![answer])?;
        }
        Ok(jobs)
    }

    /// The numbers of the processes of a role, or of all.
    pub(crate) fn numbers_of(&self, role: Option<Role>) -> Vec<usize> {
        let fits = |process: &Process| role.is_none_or(|role| process.role == role);
        self.processes.iter().enumerate().filter(|(_, one)| fits(one)).map(|(number, _)| number).collect()
    }

    /// Waits until every job has ended.
    ///
    /// # Errors
    /// When they have not in time.
    pub async fn all_ended(&self, jobs: &[JobId], limit: Duration) -> anyhow::Result<()> {
        eventually("all jobs end", limit, || async {
            // A store may be away just now.
            let left = self.unfinished(jobs).await;
            Ok((left == Some(0)).then_some(()))
        })
        .await
    }

    /// How many have not ended; `None` when the store gives no answer.
    pub async fn unfinished(&self, jobs: &[JobId]) -> Option<usize> {
        let mut left = 0;
        for page in jobs.chunks(500) {
            let phases = self.client.durable().phases(page).await.ok()?;
            let ended = |read: &Option<durable::PhaseRead>| {
                read.as_ref().is_some_and(|read| read.phase.is_terminal())
            };
            left += phases.iter().filter(|read| !ended(read)).count();
        }
        Some(left)
    }
}

/// Reads what became of jobs, straight from the stores.
#[derive(Clone)]
pub struct Reader {
    client: Client,
    target: Arc<dyn Target>,
}

/// The stage that a job's result lies in.
#[must_use]
pub fn stage_of(view: &JobView) -> Option<StageId> {
    let result = view.result.as_ref()?;
    Some(StageId { job: result.job, token: result.token, attempt: result.attempt })
}

impl Reader {
    /// The client it reads with.
    #[must_use]
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// A job as the ledger has it.
    ///
    /// # Errors
    /// When there is none.
    pub async fn job(&self, job: JobId) -> anyhow::Result<JobView> {
        self.client.durable().job(job).await?.with_context(|| format!("there is no job {job}"))
    }

    /// A published file's text.
    ///
    /// # Errors
    /// When nothing was published, or not this file.
    pub async fn published(&self, view: &JobView, file: &str) -> anyhow::Result<String> {
        let stage = stage_of(view).context("nothing was published")?;
        let mut opened = self.target.open_result(&stage, file, 0..u64::MAX).await?;
        let mut text = Vec::new();
        while let Some(piece) = opened.next().await? {
            text.extend_from_slice(&piece);
        }
        Ok(String::from_utf8(text)?)
    }
}

/// Straight to the stores. The keys of the S3 server are given by hand: only the children have them in their environment.
async fn rooms(urls: &RoomUrls) -> anyhow::Result<Rooms> {
    let keys = Keys { id: ACCESS_KEY.to_owned(), secret: SECRET_KEY.to_owned(), token: None };
    let options = S3Options { keys: Some(keys), ..S3Options::parse(&urls.target)? };
    Ok(Rooms {
        durable: Arc::new(PostgresRoom::open(&urls.durable, durable::postgres::Options::default()).await?),
        coordination: Arc::new(DragonflyRoom::open(&urls.coordination, dragonfly::Options::default()).await?),
        target: Arc::new(S3Target::open(options)?),
    })
}

impl Drop for Fleet {
    #[expect(clippy::print_stderr, clippy::panic, reason = "a test that failed shows why")]
    fn drop(&mut self) {
        self.kill_all();
        self.unmount();
        if std::thread::panicking() {
            let log = self.log();
            let lines: Vec<&str> = log.lines().collect();
            eprintln!("--- the last lines\n{}", lines[lines.len().saturating_sub(60)..].join("\n"));
        } else if !self.is_audited
            && let Err(error) = audited(&self.program, &self.data())
        {
            panic!("{error:#}");
        }
    }
}
