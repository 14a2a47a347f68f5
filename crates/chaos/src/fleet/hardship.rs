//! Machines that are worse than others, and traces that are too long for one folder.
//!
//! A small disk needs the right to mount; a clock needs libfaketime. Where they are missing that is said, and the installation
//! goes on without them.

use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use rustix::process::Signal;
use serde_json::Value;

use super::Fleet;
use super::process::Role;
use crate::dev::{Said, keep_trace};
use crate::processes::send;
use crate::wait::eventually;

/// The size of a small disk.
const SMALL: &str = "size=16m";
/// Notice, SIGTERM and SIGKILL of a drain, and a little.
const POLITE: Duration = Duration::from_secs(60);

/// What the audit of a trace came to.
#[derive(Debug, Clone, Copy, Default)]
pub struct Audited {
    /// Events read.
    pub events: u64,
    /// Jobs judged.
    pub jobs: u64,
    /// Their attempts.
    pub attempts: u64,
    /// Losses of coordination.
    pub losses: u64,
    /// Steps that a killed process took along, put where they explain what follows.
    pub inferred: u64,
    /// Writers that were killed in a line.
    pub cut: u64,
}

impl std::ops::AddAssign for Audited {
    fn add_assign(&mut self, other: Self) {
        self.events += other.events;
        self.jobs += other.jobs;
        self.attempts += other.attempts;
        self.losses += other.losses;
        self.inferred += other.inferred;
        self.cut += other.cut;
    }
}

impl Fleet {
    fn worker(&self, number: usize) -> anyhow::Result<usize> {
        let mut workers = self.processes.iter().enumerate().filter(|(_, one)| one.role == Role::Worker);
        workers.nth(number).map(|(index, _)| index).context("there is no such worker")
    }

    fn again(&mut self, index: usize) -> anyhow::Result<()> {
        self.processes[index].kill();
        self.start_process(index)
    }

    /// Gives a worker a disk of 16 MB for its work folders, and starts it again there.
    ///
    /// # Errors
    /// When nothing may be mounted.
    pub fn give_small_disk(&mut self, worker: usize) -> anyhow::Result<()> {
        let index = self.worker(worker)?;
        let dir = self.place.path().join("small");
        let work = dir.join("work");
        std::fs::create_dir_all(&work)?;
        // Its record does not lie on the small disk: an event that is lost leaves a trace that is not explained.
        std::fs::create_dir_all(self.data().events())?;
        symlink(self.data().events(), dir.join("events"))?;
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", SMALL, "tmpfs"])
            .arg(&work)
            .stderr(Stdio::null())
            .status()
            .context("mount a small disk")?;
        ensure!(mounted.success(), "a small disk cannot be mounted: it needs root");
        self.small_disk = Some(work);
        self.processes[index].dir = Some(dir);
        self.again(index)
    }

    /// Gives a worker a wall clock of its own, and starts it again with it.
    ///
    /// # Errors
    /// When libfaketime is not there.
    pub fn give_clock(&mut self, worker: usize) -> anyhow::Result<()> {
        let library = faketime().context("libfaketime is not installed (Debian: faketime)")?;
        let index = self.worker(worker)?;
        let file = self.place.path().join("clock");
        std::fs::write(&file, "+0\n")?;
        let variable = |name: &str, value: String| (name.to_owned(), value);
        self.processes[index].environment = vec![
            variable("LD_PRELOAD", library.display().to_string()),
            variable("FAKETIME_TIMESTAMP_FILE", file.display().to_string()),
            variable("FAKETIME_CACHE_DURATION", "1".to_owned()),
            // Machines that are set do not set the clock that leases live on.
            variable("FAKETIME_DONT_FAKE_MONOTONIC", "1".to_owned()),
        ];
        self.clock = Some(file);
        self.again(index)
    }

    /// Takes away what was mounted.
    pub(super) fn unmount(&mut self) {
        if let Some(disk) = self.small_disk.take() {
            // Only a folder for temporary files would stay.
            let _ = Command::new("umount").arg("-l").arg(disk).stderr(Stdio::null()).status();
        }
    }

    /// At a moment when nothing runs: stops every process politely, audits the trace, begins a new one, and starts them again.
    ///
    /// # Errors
    /// When a step is not explained (the trace is kept), or a process does not stop.
    pub async fn audit_and_go_on(&mut self) -> anyhow::Result<Audited> {
        let pids = [self.pids_of(Role::Worker), self.pids_of(Role::Server)].concat();
        pids.iter().for_each(|pid| send(*pid, Signal::TERM));
        let ended = |pid| async move { Ok((!crate::processes::exists(pid)).then_some(())) };
        for pid in pids {
            // One that was not waited for is a zombie, and does not exist.
            eventually("a process ends after SIGTERM", POLITE, || ended(pid)).await?;
        }
        let audited = tokio::task::block_in_place(|| self.audit())?;
        for entry in std::fs::read_dir(self.data().events())? {
            std::fs::remove_file(entry?.path())?;
        }
        for index in 0..self.processes.len() {
            self.again(index)?;
        }
        self.all_registered().await?;
        Ok(audited)
    }

    /// Ends everything, and keeps the trace.
    ///
    /// # Errors
    /// When a step of it is not explained.
    pub(crate) fn end(mut self) -> anyhow::Result<PathBuf> {
        self.kill_all();
        self.is_audited = true;
        self.audit()?;
        keep_trace(&self.data())
    }

    fn audit(&self) -> anyhow::Result<Audited> {
        let mut command = Command::new(&self.program);
        command.arg("audit").arg(self.data().root()).args(["-o", "json"]).stdin(Stdio::null());
        let said = Said::from(command.output()?);
        if said.code != 0 {
            let kept = keep_trace(&self.data())?;
            bail!("the trace kept in {} is not explained\n{}{}", kept.display(), said.out, said.err);
        }
        let found: Value = serde_json::from_str(&said.out).context("read what the audit found")?;
        let number = |value: &Value| value.as_u64().unwrap_or_default();
        Ok(Audited {
            events: number(&found["events"]),
            jobs: number(&found["jobs"]),
            attempts: number(&found["attempts"]),
            losses: number(&found["losses"]),
            inferred: number(&found["inferred_steps"]),
            cut: number(&found["gaps"]["cut_lines"]),
        })
    }
}

/// Debian keeps it in a folder of the machine's kind.
fn faketime() -> Option<PathBuf> {
    let kinds = std::fs::read_dir("/usr/lib").ok()?.flatten();
    kinds.map(|kind| kind.path().join("faketime/libfaketimeMT.so.1")).find(|path| path.is_file())
}
