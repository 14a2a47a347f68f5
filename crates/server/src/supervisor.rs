//! Keeps worker processes running: a dead one is started again at once, as a new incarnation, backing off
//! after five deaths in a minute. One that was asked from afar to drain ends like any other, and a fresh one follows: such a
//! drain is a restart.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use remora::{ROOM_VARIABLES, RoomUrls};
use rustix::process::{Pid, Signal, kill_process};
use tokio::process::{Child, Command};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::Instant;
use worker::warden::Brood;

use crate::control::WorkerProcessInfo;

/// The word that makes the `remora` binary a worker of its parent.
pub const WORKER_WORD: &str = "__remora-worker";

/// The word that tells such a worker to take its rooms from the environment, where no other user sees passwords.
pub const ROOMS_WORD: &str = "--rooms";

const DEATHS: usize = 5;
const DEATHS_IN: Duration = Duration::from_secs(60);
const LONGEST_BACKOFF: Duration = Duration::from_secs(30);

/// Which workers to keep.
#[derive(Debug, Clone)]
pub struct SupervisorOptions {
    /// The binary that is a worker when its first word is [`WORKER_WORD`].
    pub program: PathBuf,
    /// How many processes; 0 for none.
    pub workers: u32,
    /// Slots of each.
    pub slots: u32,
    /// Further words for each.
    pub words: Vec<OsString>,
    /// The rooms to work on, which each finds in its environment and is told of by [`ROOMS_WORD`]; those of the folder's
    /// owner when `None`.
    pub rooms: Option<RoomUrls>,
    /// How long a drain may take before the rest is killed.
    pub drain_limit: Duration,
}

/// What the owner asks of its workers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Wish {
    Run,
    Drain,
    Kill,
}

pub(crate) struct Supervisor {
    options: SupervisorOptions,
    folder: PathBuf,
    brood: Brood,
    wish: watch::Sender<Wish>,
    processes: Mutex<Vec<WorkerProcessInfo>>,
}

impl Supervisor {
    pub(crate) fn new(options: SupervisorOptions, folder: PathBuf) -> std::io::Result<Arc<Self>> {
        let processes = (1..=options.workers)
            .map(|number| WorkerProcessInfo { name: format!("w{number}"), pid: None, restarts: 0 })
            .collect();
        Ok(Arc::new(Self {
            options,
            folder,
            brood: Brood::new()?,
            wish: watch::channel(Wish::Run).0,
            processes: Mutex::new(processes),
        }))
    }

    pub(crate) fn processes(&self) -> Vec<WorkerProcessInfo> {
        self.processes.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn note(&self, index: usize, change: impl FnOnce(&mut WorkerProcessInfo)) -> String {
        let mut processes = self.processes.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut processes[index]);
        processes[index].name.clone()
    }

    /// Starts all and keeps them until they are told to end.
    pub(crate) async fn run(self: Arc<Self>) {
        let mut places = JoinSet::new();
        for index in 0..self.processes().len() {
            let supervisor = Arc::clone(&self);
            places.spawn(async move { supervisor.keep(index).await });
        }
        while places.join_next().await.is_some() {}
    }

    /// Asks all to drain.
    pub(crate) fn drain(&self) {
        self.raise(Wish::Drain);
    }

    /// Kills all.
    pub(crate) fn kill(&self) {
        self.raise(Wish::Kill);
    }

    fn raise(&self, wish: Wish) {
        self.wish.send_if_modified(|current| {
            let more = wish > *current;
            *current = (*current).max(wish);
            more
        });
    }

    /// Keeps one place filled.
    async fn keep(&self, index: usize) {
        let mut wish = self.wish.subscribe();
        let mut deaths: VecDeque<Instant> = VecDeque::new();
        let mut backoff = Duration::from_secs(1);
        while *wish.borrow_and_update() == Wish::Run {
            self.live_once(index, &mut wish).await;
            deaths.push_back(Instant::now());
            while deaths.front().is_some_and(|death| death.elapsed() > DEATHS_IN) {
                deaths.pop_front();
            }
            if deaths.len() < DEATHS {
                backoff = Duration::from_secs(1);
            } else {
                tracing::warn!(
                    ?backoff,
                    deaths = deaths.len(),
                    "a worker died too often in a minute; waiting before the next start"
                );
                tokio::select! {
                    () = tokio::time::sleep(backoff) => {}
                    _ = wish.wait_for(|wish| *wish > Wish::Run) => {}
                }
                backoff = (backoff * 2).min(LONGEST_BACKOFF);
            }
            self.note(index, |process| process.restarts += 1);
        }
    }

    /// One process, from start to end.
    async fn live_once(&self, index: usize, wish: &mut watch::Receiver<Wish>) {
        let name = self.note(index, |_| {});
        let mut command = Command::new(&self.options.program);
        command
            .arg(WORKER_WORD)
            .arg("--dir")
            .arg(&self.folder)
            .args(["--name", &name, "--slots", &self.options.slots.to_string()])
            .args(&self.options.words)
            .stdin(Stdio::null())
            .stdout(Stdio::null());
        for name in ROOM_VARIABLES {
            command.env_remove(name);
        }
        if let Some(rooms) = &self.options.rooms {
            command.arg(ROOMS_WORD).envs(rooms.variables());
        }
        let (mut child, pid) = match self.brood.start(&mut command).await {
            Ok(started) => started,
            Err(error) => {
                tracing::error!(%error, program = %self.options.program.display(), "cannot start a worker");
                return;
            }
        };
        self.note(index, |process| process.pid = child.id());
        let status = self.wait(&mut child, pid, wish).await;
        self.note(index, |process| process.pid = None);
        self.brood.forget(pid).await;
        self.brood.kill_strays().await;
        match status {
            Some(status) if !status.success() && *wish.borrow() == Wish::Run => {
                tracing::warn!(worker = %name, pid, %status, "a worker ended; starting it again");
            }
            _ => {}
        }
    }

    async fn wait(
        &self,
        child: &mut Child,
        pid: i32,
        wish: &mut watch::Receiver<Wish>,
    ) -> Option<std::process::ExitStatus> {
        let draining = async {
            let _ = wish.wait_for(|wish| *wish >= Wish::Drain).await;
        };
        tokio::select! {
            status = child.wait() => return status.ok(),
            () = draining => {}
        }
        signal(pid, Signal::TERM);
        let killing = async {
            let _ = wish.wait_for(|wish| *wish >= Wish::Kill).await;
        };
        tokio::select! {
            status = child.wait() => return status.ok(),
            () = killing => {}
            () = tokio::time::sleep(self.options.drain_limit) => {
                tracing::warn!(pid, "a worker did not drain in time and is killed");
            }
        }
        signal(pid, Signal::KILL);
        child.wait().await.ok()
    }
}

fn signal(pid: i32, signal: Signal) {
    if let Some(pid) = Pid::from_raw(pid) {
        // A worker that has gone needs no signal.
        let _ = kill_process(pid, signal);
    }
}
