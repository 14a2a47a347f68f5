//! `cargo xtask fuzz-api [CASES]`: requests of all kinds, right and wrong ones, made from the API's own document.
//!
//! schemathesis comes from Python's package index into a folder under `target`, unless `REMORA_SCHEMATHESIS` names one. The
//! server is a `remora dev` of its own, with an administrator's token.

use std::env;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, bail};
use testbed::Folder;

use crate::{say, tidy};

/// Cases unless said.
const CASES: u32 = 10_000;
/// Streams do not end, and requests to them are no cases.
const ENDLESS: [&str; 2] = ["watch_job", "watch_all"];
/// The version that is known to understand `schemathesis.toml`.
const WANTED: &str = "schemathesis>=4.32,<5";

/// The server; it ends with this.
struct Dev(Child);

impl Drop for Dev {
    fn drop(&mut self) {
        // It may have ended by itself: that was told.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Runs the chore.
///
/// # Errors
/// When something was found, or it could not be looked for.
pub(crate) fn run(args: &[String]) -> anyhow::Result<()> {
    let cases: u32 =
        args.first().map_or(Ok(CASES), |cases| cases.parse()).context("read the number of cases")?;
    let root = tidy::root()?;
    let document =
        std::fs::read_to_string(root.join("docs/reference/openapi.json")).context("read the document")?;
    let operations = u32::try_from(document.matches("\"operationId\"").count() - ENDLESS.len()).unwrap_or(1);
    let remora = remora(&root)?;
    let schemathesis = schemathesis(&root)?;
    let folder = Folder::new("fuzz-api");
    let (_dev, url) = dev(&remora, folder.path())?;
    let token = token(&remora, folder.path())?;
    let mut command = Command::new(schemathesis);
    command.arg("--config-file").arg(root.join("xtask/schemathesis.toml")).arg("run");
    command.arg(root.join("docs/reference/openapi.json")).args(["--url", &url, "--checks", "all"]);
    command.args(["--max-examples", &cases.div_ceil(operations).to_string(), "--request-timeout", "20"]);
    command.args(["--header", &format!("Authorization: Bearer {token}")]);
    command.args(ENDLESS.iter().flat_map(|id| ["--exclude-operation-id", id]));
    let status = command.current_dir(folder.path()).status().context("run schemathesis")?;
    if !status.success() {
        bail!("schemathesis found something");
    }
    say("schemathesis found nothing");
    Ok(())
}

/// The program, freshly built.
fn remora(root: &Path) -> anyhow::Result<PathBuf> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let built =
        Command::new(cargo).args(["build", "--quiet", "--package", "remora-cli"]).current_dir(root).status();
    if !built.context("run cargo")?.success() {
        bail!("remora could not be built");
    }
    let target = env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    Ok(target.join("debug/remora"))
}

fn schemathesis(root: &Path) -> anyhow::Result<PathBuf> {
    if let Some(named) = env::var_os("REMORA_SCHEMATHESIS") {
        return Ok(named.into());
    }
    let place = root.join("target/schemathesis");
    let program = place.join("bin/schemathesis");
    if !program.is_file() {
        say("installing schemathesis");
        let made =
            Command::new("python3").args(["-m", "venv"]).arg(&place).status().context("run python3")?;
        let pip = Command::new(place.join("bin/pip")).args(["install", "--quiet", WANTED]).status();
        if !made.success() || !pip.context("run pip")?.success() {
            bail!("pip cannot get schemathesis; REMORA_SCHEMATHESIS names one that is there");
        }
    }
    Ok(program)
}

/// Starts the server; gives its URL.
fn dev(remora: &Path, folder: &Path) -> anyhow::Result<(Dev, String)> {
    let mut child = Command::new(remora)
        .arg("--dir")
        .arg(folder.join("data"))
        .args(["dev", "--workers", "1", "--no-events", "--listen", "127.0.0.1:0"])
        .stderr(Stdio::piped())
        .spawn()
        .context("start remora dev")?;
    let mut lines = BufReader::new(child.stderr.take().context("read what remora dev says")?).lines();
    let dev = Dev(child);
    let said = lines.by_ref().map_while(Result::ok).find(|line| line.contains("the API is at"));
    let url = said
        .as_deref()
        .and_then(|line| line.split_whitespace().last())
        .context("remora dev did not start")?;
    let url = url.to_owned();
    // What it says from now on is for people, and nobody may keep it from saying so.
    std::thread::spawn(move || lines.map_while(Result::ok).for_each(|line| say(&line)));
    Ok((dev, url))
}

fn token(remora: &Path, folder: &Path) -> anyhow::Result<String> {
    let mut command = Command::new(remora);
    command.arg("--dir").arg(folder.join("data")).args(["token", "create", "fuzz", "--scope", "admin"]);
    let made = command.output().context("make a token")?;
    if !made.status.success() {
        bail!("no token could be made: {}", String::from_utf8_lossy(&made.stderr).trim());
    }
    Ok(String::from_utf8(made.stdout).context("read the token")?.trim().to_owned())
}
