//! One process of an installation, with its links.

use std::fs::File;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::Context;
use process_wrap::std::ChildWrapper;
use testbed::s3::{ACCESS_KEY, SECRET_KEY};

use super::{FleetOptions, urls};
use crate::processes::{kill, mortal, spawn, tree};
use crate::proxy::Proxy;

/// What runs is told so long before that it has to stop.
const DRAIN_NOTICE: &str = "3s";
/// A supervisor starts a process again after this time at the earliest.
const BREATH: Duration = Duration::from_millis(500);

/// What a process is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Server,
    Worker,
}

/// See the module.
pub(crate) struct Process {
    pub(crate) role: Role,
    number: u32,
    /// To the durable store, to coordination, to the target.
    pub(crate) links: [Proxy; 3],
    /// A data folder of its own.
    pub(crate) dir: Option<PathBuf>,
    /// More variables.
    pub(crate) environment: Vec<(String, String)>,
    child: Option<Box<dyn ChildWrapper>>,
    began: Option<Instant>,
}

impl Process {
    /// One that is not started yet, with links to these ports.
    pub(crate) async fn new(role: Role, number: u32, ports: [u16; 3]) -> anyhow::Result<Self> {
        let [durable, coordination, target] = ports.map(|port| SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
        let links =
            [Proxy::start(durable).await?, Proxy::start(coordination).await?, Proxy::start(target).await?];
        Ok(Self { role, number, links, dir: None, environment: Vec::new(), child: None, began: None })
    }

    pub(crate) fn start(
        &mut self,
        program: &Path,
        dir: &Path,
        log: &Path,
        options: FleetOptions,
    ) -> anyhow::Result<()> {
        let [durable, coordination, target] = [0, 1, 2].map(|link| self.links[link].address().port());
        let rooms = urls(durable, coordination, target);
        let out = File::options().create(true).append(true).open(log)?;
        let mut command = mortal(program);
        command.arg("--dir").arg(self.dir.as_deref().unwrap_or(dir)).envs(rooms.variables());
        command.envs([("AWS_ACCESS_KEY_ID", ACCESS_KEY), ("AWS_SECRET_ACCESS_KEY", SECRET_KEY)]);
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        match self.role {
            Role::Server => command.args([
                "server",
                "--listen",
                "none",
                "--lease",
                &format!("{}ms", options.lease.as_millis()),
            ]),
            Role::Worker => {
                let name = format!("w{}", self.number);
                command.args(["worker", "--name", &name, "--slots", &options.slots.to_string()]);
                command.args(["--drain-notice", DRAIN_NOTICE])
            }
        };
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(out);
        self.child = Some(spawn(command).with_context(|| format!("start {}", program.display()))?);
        self.began = Some(Instant::now());
        Ok(())
    }

    /// Its process, while it lives.
    pub(crate) fn pid(&mut self) -> Option<u32> {
        let child = self.child.as_mut()?;
        matches!(child.try_wait(), Ok(None)).then(|| child.id())
    }

    /// Whether it has ended, and a supervisor would start it again now.
    pub(crate) fn is_due(&mut self) -> bool {
        self.pid().is_none() && self.began.is_none_or(|began| began.elapsed() > BREATH)
    }

    /// Kills it, and whatever it started.
    pub(crate) fn kill(&mut self) {
        if let Some(pid) = self.pid() {
            let below = tree(pid);
            kill(pid);
            below.into_iter().for_each(kill);
        }
        if let Some(mut child) = self.child.take() {
            // It was killed just now.
            let _ = child.wait();
        }
    }
}
