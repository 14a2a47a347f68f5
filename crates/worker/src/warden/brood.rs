//! The children that a process has started on purpose, so that what killed ones leave to it can be told from
//! them and ended.

use std::collections::BTreeSet;
use std::io;
use std::time::Duration;

use rustix::process::{Pid, WaitOptions, getpid, set_child_subreaper, waitpid};
use tokio::process::Child;
use tokio::sync::Mutex;

use super::descendants::kill_strays;

const ROUND: Duration = Duration::from_millis(2);

/// Known children of this process, their subreaper.
#[derive(Debug, Default)]
pub struct Brood {
    pids: Mutex<BTreeSet<i32>>,
}

impl Brood {
    /// Makes this process the subreaper of what killed children leave.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn new() -> io::Result<Self> {
        set_child_subreaper(Some(getpid()))?;
        Ok(Self::default())
    }

    /// Starts a child and knows it from its first moment.
    ///
    /// # Errors
    /// When it cannot be started.
    pub async fn start(&self, command: &mut tokio::process::Command) -> io::Result<(Child, i32)> {
        let mut pids = self.pids.lock().await;
        let child = command.spawn()?;
        let pid = child.id().and_then(|pid| i32::try_from(pid).ok());
        let pid = pid.ok_or_else(|| io::Error::other("a child that was just started has a process id"))?;
        pids.insert(pid);
        Ok((child, pid))
    }

    /// Forgets a child that has been waited for.
    pub async fn forget(&self, pid: i32) {
        self.pids.lock().await.remove(&pid);
    }

    /// Kills what dead children left, until nothing of it is there.
    #[expect(clippy::disallowed_methods, reason = "waits for real processes")]
    pub async fn kill_strays(&self) {
        while self.kill_round().await {
            tokio::time::sleep(ROUND).await;
        }
    }

    /// One round; whether anything was there.
    async fn kill_round(&self) -> bool {
        let pids = self.pids.lock().await;
        let strays = kill_strays(getpid().as_raw_nonzero().get(), &pids);
        for stray in strays.iter().filter_map(|pid| Pid::from_raw(*pid)) {
            // Those below it are adopted when it is gone, and found in the next round.
            let _ = waitpid(Some(stray), WaitOptions::NOHANG);
        }
        !strays.is_empty()
    }
}
