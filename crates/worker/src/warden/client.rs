//! The worker's side of the pipe to a warden.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, WaitOptions, waitpid};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::sync::Mutex;

use super::descendants::kill_strays;
use super::{Order, Report, Start};

/// How to start a warden: the same binary, with words that lead to [`super::warden_main`].
#[derive(Debug, Clone)]
pub struct WardenCommand {
    /// The binary.
    pub program: PathBuf,
    /// Its words.
    pub words: Vec<OsString>,
}

/// What came back from the warden.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum WardenReport {
    Said(Report),
    /// The warden itself is gone without saying that the tree is empty.
    Gone,
}

/// The wardens of this process, so that what a killed one leaves can be told from a living one's.
#[derive(Default)]
pub(crate) struct Wardens {
    pids: Mutex<BTreeSet<i32>>,
}

/// A warden that runs.
pub(crate) struct Warden {
    child: Child,
    pid: i32,
    orders: ChildStdin,
    reports: Lines<BufReader<ChildStdout>>,
}

impl Wardens {
    /// Starts a warden with its program; gives the program's log beside it.
    pub(crate) async fn start(
        &self,
        command: &WardenCommand,
        start: &Start,
    ) -> io::Result<(Warden, ChildStderr)> {
        let mut pids = self.pids.lock().await;
        let mut child = Command::new(&command.program)
            .args(&command.words)
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let missing = || io::Error::other("the warden's pipes were asked for");
        let pid = child.id().and_then(|pid| i32::try_from(pid).ok()).ok_or_else(missing)?;
        pids.insert(pid);
        drop(pids);
        let mut orders = child.stdin.take().ok_or_else(missing)?;
        let reports = BufReader::new(child.stdout.take().ok_or_else(missing)?).lines();
        let log = child.stderr.take().ok_or_else(missing)?;
        let mut line = serde_json::to_vec(start)?;
        line.push(b'\n');
        orders.write_all(&line).await?;
        Ok((Warden { child, pid, orders, reports }, log))
    }

    /// Ends the warden process and, where it did not say that its tree is empty, everything that was below
    /// it: this process is a subreaper too and inherits what a killed warden leaves.
    #[expect(clippy::disallowed_methods, reason = "waits for real processes")]
    pub(crate) async fn end(&self, mut warden: Warden, empty: bool) {
        drop(warden.orders);
        if !empty {
            let _ = warden.child.start_kill();
        }
        let _ = warden.child.wait().await;
        self.pids.lock().await.remove(&warden.pid);
        while !empty && self.kill_strays().await {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }

    /// One round; whether anything was left.
    async fn kill_strays(&self) -> bool {
        let pids = self.pids.lock().await;
        let strays = kill_strays(rustix::process::getpid().as_raw_nonzero().get(), &pids);
        for stray in strays.iter().filter_map(|pid| Pid::from_raw(*pid)) {
            let _ = waitpid(Some(stray), WaitOptions::NOHANG);
        }
        !strays.is_empty()
    }
}

impl Warden {
    /// Sends an order. A warden that has gone is noticed when it is read.
    pub(crate) async fn order(&mut self, order: Order) {
        if let Ok(mut line) = serde_json::to_vec(&order) {
            line.push(b'\n');
            // A frozen warden's pipe may be full; its own deadline still holds.
            let _ = tokio::time::timeout(Duration::from_millis(200), self.orders.write_all(&line)).await;
        }
    }

    /// The next report. Can be dropped and called again.
    pub(crate) async fn report(&mut self) -> WardenReport {
        match self.reports.next_line().await {
            Ok(Some(line)) => serde_json::from_str(&line).map_or(WardenReport::Gone, WardenReport::Said),
            Ok(None) | Err(_) => WardenReport::Gone,
        }
    }
}
