//! A `remora dev` of one's own.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Output, Stdio};
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use durable::JobView;
use process_wrap::std::ChildWrapper;
use protocol::{AttemptId, JobId, JobSpec};
use remora::{Client, DataFolder};
use rustix::process::Signal;
use server::{OwnerInfo, OwnerRequest};
use testbed::Folder;

use crate::processes::{exists, kill, mortal, of_folder, send, spawn, tree, with_text};
use crate::wait::eventually;

const PATIENCE: Duration = Duration::from_secs(20);

/// How to start it.
#[derive(Debug, Clone)]
pub struct DevOptions {
    /// Worker processes.
    pub workers: u32,
    /// Slots of each.
    pub slots: u32,
    /// The lease length.
    pub lease: Duration,
    /// Further words.
    pub words: Vec<String>,
}

impl Default for DevOptions {
    fn default() -> Self {
        Self { workers: 2, slots: 1, lease: Duration::from_secs(3), words: Vec::new() }
    }
}

/// A worker process, as `workers` tells of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerSeen {
    /// Its name.
    pub name: String,
    /// Its process.
    pub pid: u32,
    /// The jobs whose leases it holds.
    pub jobs: Vec<(JobId, AttemptId)>,
}

/// What a command said.
#[derive(Debug)]
pub struct Said {
    /// Its exit code; -1 when a signal ended it.
    pub code: i32,
    /// Its standard output.
    pub out: String,
    /// Its standard error.
    pub err: String,
}

impl From<Output> for Said {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

/// A running `remora dev` with a data folder of its own. Everything that it started dies with it, and what it recorded
/// is then audited: dropping it panics when the spec does not allow a step, and keeps the trace.
pub struct Dev {
    program: PathBuf,
    place: Folder,
    options: DevOptions,
    owner: Option<Box<dyn ChildWrapper>>,
}

impl Dev {
    /// Starts it in a new folder.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn start(program: impl Into<PathBuf>, options: DevOptions) -> anyhow::Result<Self> {
        let place = Folder::new("dev");
        let mut dev = Self { program: program.into(), place, options, owner: None };
        dev.start_owner()?;
        Ok(dev)
    }

    /// Starts the owner, which must not run, on the same folder.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn start_owner(&mut self) -> anyhow::Result<()> {
        ensure!(self.owner.is_none(), "the owner runs");
        let log = File::options().create(true).append(true).open(self.log_path())?;
        let mut command = mortal(&self.program);
        command.arg("--dir").arg(self.data().root()).arg("dev");
        command.args(["--workers", &self.options.workers.to_string()]);
        command.args(["--slots", &self.options.slots.to_string()]);
        command.args(["--lease", &format!("{}ms", self.options.lease.as_millis())]);
        command.args(&self.options.words).current_dir(self.place.path());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::from(log));
        self.owner = Some(spawn(command).with_context(|| format!("start {}", self.program.display()))?);
        Ok(())
    }

    /// How many workers the next owner starts.
    pub fn set_workers(&mut self, workers: u32) {
        self.options.workers = workers;
    }

    /// The data folder.
    #[must_use]
    pub fn data(&self) -> DataFolder {
        DataFolder::new(self.place.path().join("data"))
    }

    /// A folder beside it, for traces.
    #[must_use]
    pub fn place(&self) -> &Path {
        self.place.path()
    }

    /// The lease length.
    #[must_use]
    pub fn lease(&self) -> Duration {
        self.options.lease
    }

    fn log_path(&self) -> PathBuf {
        self.place.path().join("dev.log")
    }

    /// What the owner and its workers said.
    #[must_use]
    pub fn log(&self) -> String {
        fs::read_to_string(self.log_path()).unwrap_or_default()
    }

    /// The owner's process; `None` while there is none.
    #[must_use]
    pub fn owner_pid(&self) -> Option<u32> {
        self.owner.as_ref().map(|child| child.id())
    }

    /// A client; waits for the owner to answer.
    ///
    /// # Errors
    /// When it does not.
    pub async fn client(&self) -> anyhow::Result<Client> {
        eventually("the owner answers", PATIENCE, || async {
            Ok(Client::connect(self.data().root(), "chaos").await.ok())
        })
        .await
    }

    /// Runs `remora` on the folder.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn command(&self, words: &[&str]) -> anyhow::Result<Said> {
        let mut command = Command::new(&self.program);
        command.arg("--dir").arg(self.data().root()).args(words).current_dir(self.place.path());
        Ok(command.stdin(Stdio::null()).output()?.into())
    }

    /// Submits many jobs.
    ///
    /// # Errors
    /// When one is refused.
    pub async fn submit(&self, specs: impl IntoIterator<Item = JobSpec>) -> anyhow::Result<Vec<JobId>> {
        let client = self.client().await?;
        let mut jobs = Vec::new();
        for spec in specs {
            jobs.push(client.submit(spec).await?.job);
        }
        Ok(jobs)
    }

    /// The worker processes that have registered.
    ///
    /// # Errors
    /// When the owner does not answer.
    pub async fn workers(&self) -> anyhow::Result<Vec<WorkerSeen>> {
        let views = self.client().await?.workers().await?;
        let seen = |view: coordination::WorkerView| WorkerSeen {
            name: view.registration.name,
            pid: view.registration.pid,
            jobs: view.attempts.iter().map(|held| (held.job, held.attempt)).collect(),
        };
        Ok(views.into_iter().map(seen).filter(|worker| exists(worker.pid)).collect())
    }

    /// The worker processes that the owner keeps.
    ///
    /// # Errors
    /// When the owner does not answer.
    pub async fn worker_pids(&self) -> anyhow::Result<Vec<u32>> {
        let request = serde_json::to_string(&OwnerRequest::Info)?;
        let info: OwnerInfo = serde_json::from_str(&self.client().await?.ask_owner(&request).await?)?;
        Ok(info.workers.into_iter().filter_map(|worker| worker.pid).collect())
    }

    /// The worker that executes a job; waits for one.
    ///
    /// # Errors
    /// When none does in time.
    pub async fn worker_of(&self, job: JobId) -> anyhow::Result<WorkerSeen> {
        eventually("a worker executes the job", PATIENCE, || async {
            let workers = self.workers().await?;
            Ok(workers.into_iter().find(|worker| worker.jobs.iter().any(|(held, _)| *held == job)))
        })
        .await
    }

    /// `LoseCoordinationState`.
    ///
    /// # Errors
    /// When the owner does not answer.
    pub async fn lose_coordination(&self) -> anyhow::Result<()> {
        let request = serde_json::to_string(&OwnerRequest::LoseCoordination)?;
        self.client().await?.ask_owner(&request).await?;
        Ok(())
    }

    /// SIGKILL to the owner.
    ///
    /// # Errors
    /// When it cannot be waited for.
    pub fn kill_owner(&mut self) -> anyhow::Result<()> {
        if let Some(mut owner) = self.owner.take() {
            kill(owner.id());
            owner.wait()?;
        }
        Ok(())
    }

    /// SIGTERM to the owner; how it ended.
    ///
    /// # Errors
    /// When it does not end in time.
    pub async fn stop_owner(&mut self, limit: Duration) -> anyhow::Result<ExitStatus> {
        let Some(owner) = self.owner.as_mut() else { bail!("the owner does not run") };
        send(owner.id(), Signal::TERM);
        let began = std::time::Instant::now();
        loop {
            if let Some(status) = owner.try_wait()? {
                self.owner = None;
                return Ok(status);
            }
            ensure!(began.elapsed() < limit, "the owner did not end within {limit:?} after SIGTERM");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// A job as the ledger has it.
    ///
    /// # Errors
    /// When there is none.
    pub async fn job(&self, job: JobId) -> anyhow::Result<JobView> {
        let view = self.client().await?.durable().job(job).await?;
        view.with_context(|| format!("there is no job {job}"))
    }

    /// Waits for the end of a job.
    ///
    /// # Errors
    /// When it does not end in time.
    pub async fn ended(&self, job: JobId, limit: Duration) -> anyhow::Result<JobView> {
        let client = self.client().await?;
        let watching = client.watch(job, |view, _| view.summary.phase.is_terminal().then(|| view.clone()));
        match tokio::time::timeout(limit, watching).await {
            Ok(view) => Ok(view?),
            Err(_) => bail!("{job} did not end within {limit:?}: {:?}", self.job(job).await?),
        }
    }

    /// The folder that a job's result was published in.
    #[must_use]
    pub fn result_folder(&self, view: &JobView) -> Option<PathBuf> {
        let result = view.result.as_ref()?;
        let stage = format!("{}-{}", result.token, result.attempt);
        Some(self.data().target().join(result.job.to_string()).join(stage).join("out"))
    }

    /// A published file's text.
    ///
    /// # Errors
    /// When nothing was published, or not this file.
    pub fn published(&self, view: &JobView, file: &str) -> anyhow::Result<String> {
        let folder = self.result_folder(view).context("nothing was published")?;
        fs::read_to_string(folder.join(file)).with_context(|| format!("read {file} in {}", folder.display()))
    }
}

impl Drop for Dev {
    #[expect(clippy::print_stderr, clippy::panic, reason = "a test that failed shows why")]
    fn drop(&mut self) {
        let tree = self.owner_pid().map(tree).unwrap_or_default();
        let _ = self.kill_owner();
        let root = self.data().root().display().to_string();
        tree.into_iter().for_each(kill);
        for found in of_folder(self.data().root()).into_iter().chain(with_text(&root)) {
            if found.pid != std::process::id() {
                kill(found.pid);
            }
        }
        if std::thread::panicking() {
            let log = self.log();
            let lines: Vec<&str> = log.lines().collect();
            let tail = &lines[lines.len().saturating_sub(60)..];
            eprintln!("--- the last lines of {}\n{}", self.log_path().display(), tail.join("\n"));
        } else if let Err(error) = audited(&self.program, &self.data()) {
            panic!("{error:#}");
        }
    }
}

/// Whether the spec allows every step that was recorded in the folder; the error is the table, and where the trace is kept.
pub(crate) fn audited(program: &Path, data: &DataFolder) -> anyhow::Result<()> {
    let events = data.events();
    if !fs::read_dir(&events).is_ok_and(|mut files| files.next().is_some()) {
        return Ok(());
    }
    let output = Command::new(program).arg("audit").arg(data.root()).stdin(Stdio::null()).output()?;
    let said = Said::from(output);
    // Two: it ended before anything happened that could be recorded.
    if said.code == 0 || said.code == 2 && said.err.contains("there are no events") {
        return Ok(());
    }
    let kept = keep_trace(data)?;
    bail!("the trace kept in {} is not explained\n{}{}", kept.display(), said.out, said.err)
}

/// Copies a trace to where it stays.
pub(crate) fn keep_trace(data: &DataFolder) -> anyhow::Result<PathBuf> {
    let kept = tempfile::Builder::new().prefix("remora-unexplained-").tempdir()?.keep();
    for entry in fs::read_dir(data.events())? {
        let path = entry?.path();
        fs::copy(&path, kept.join(path.file_name().unwrap_or_default()))?;
    }
    Ok(kept)
}
