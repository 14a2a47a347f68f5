//! The worker's side of the pipe to a warden.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};

use super::descendants::is_stopped;
use super::{Brood, Order, Report, Start};

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

/// A warden that runs.
pub(crate) struct Warden {
    child: Child,
    pid: i32,
    orders: ChildStdin,
    reports: Lines<BufReader<ChildStdout>>,
}

impl Warden {
    /// Starts a warden with its program; gives the program's log beside it.
    pub(crate) async fn start(
        brood: &Brood,
        command: &WardenCommand,
        start: &Start,
    ) -> io::Result<(Self, ChildStderr)> {
        let mut warden = Command::new(&command.program);
        warden.args(&command.words).env_clear();
        warden.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let (child, pid) = brood.start(&mut warden).await?;
        match Self::open(child, pid, start).await {
            Ok(opened) => Ok(opened),
            Err((mut child, error)) => {
                // Gone already is as good.
                let _ = child.kill().await;
                brood.forget(pid).await;
                Err(error)
            }
        }
    }

    async fn open(
        mut child: Child,
        pid: i32,
        start: &Start,
    ) -> Result<(Self, ChildStderr), (Child, io::Error)> {
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(mut orders), Some(reports), Some(log)) = pipes else {
            return Err((child, io::Error::other("the warden's pipes were asked for")));
        };
        let mut line = match serde_json::to_vec(start) {
            Ok(line) => line,
            Err(error) => return Err((child, error.into())),
        };
        line.push(b'\n');
        if let Err(error) = orders.write_all(&line).await {
            return Err((child, error));
        }
        let reports = BufReader::new(reports).lines();
        Ok((Self { child, pid, orders, reports }, log))
    }

    /// Ends the warden process and, where it did not say that its tree is empty, everything that was below
    /// it, which this process has inherited.
    pub(crate) async fn end(mut self, brood: &Brood, empty: bool) {
        drop(self.orders);
        if !empty {
            // Gone already is as good.
            let _ = self.child.start_kill();
        }
        let _ = self.child.wait().await;
        brood.forget(self.pid).await;
        if !empty {
            brood.kill_strays().await;
        }
    }

    /// Whether somebody has stopped (frozen) the warden itself.
    pub(crate) fn is_stopped(&self) -> bool {
        is_stopped(self.pid)
    }

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
