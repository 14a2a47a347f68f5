//! `cargo xtask test [--install]`: everything that CI runs, in the order of its cost.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, bail};

use crate::servers::{self, NoServices, Pass, SHARED};
use crate::{say, tidy};

/// What the tests need beside the Rust toolchain: a program, and the Debian package that brings it.
const NEEDED: [(&str, &str); 6] = [
    ("cc", "gcc"),
    ("git", "git"),
    ("mount", "mount"),
    ("redis-server", "redis-server"),
    ("chromium", "chromium"),
    ("chromedriver", "chromium-driver"),
];

/// Checks and tests everything.
///
/// # Errors
/// When something is missing or fails.
pub(crate) fn run(args: &[String]) -> anyhow::Result<()> {
    let mut install = false;
    for word in args {
        match word.as_str() {
            "--install" => install = true,
            other => bail!("`{other}` is not understood; `cargo xtask test` knows --install"),
        }
    }
    provide(install)?;
    let root = tidy::root()?;
    let began = Instant::now();
    step("rules of the house", || tidy::run(&[]))?;
    step("one name everywhere", || crate::spec::run(Vec::new()))?;
    if has_cargo(&root, "fmt") {
        step("format", || cargo(&root, &["fmt", "--all", "--check"]))?;
    }
    if has_cargo(&root, "clippy") {
        let words =
            ["clippy", "--quiet", "--workspace", "--all-targets", "--all-features", "--", "-D", "warnings"];
        step("clippy", || cargo(&root, &words))?;
    }
    if has_cargo(&root, "deny") {
        step("cargo-deny", || cargo(&root, &["deny", "--log-level", "error", "check"]))?;
    }
    step("build", || cargo(&root, &["build", "--quiet", "--workspace", "--all-features", "--all-targets"]))?;
    step("tests", || tests(&root))?;
    for pass in &servers::others()?.passes {
        step(pass.name, || once_more(&root, pass))?;
    }
    say(&format!("everything passed in {:.0?}", began.elapsed()));
    Ok(())
}

/// One server of a kind for the whole run; they end with this function, and with this process however that ends.
fn tests(root: &Path) -> anyhow::Result<()> {
    let redis = testbed::Redis::start();
    let postgres = match std::env::var_os(testbed::postgres::SHARED) {
        Some(_) => None,
        None => Some(testbed::Postgres::start()),
    };
    let mut environment = vec![(SHARED, redis.url())];
    environment.extend(postgres.iter().map(|server| (testbed::postgres::SHARED, server.url())));
    if has_cargo(root, "nextest") {
        let words = ["nextest", "run", "--workspace", "--all-features", "--no-fail-fast"];
        cargo_with(root, &words, &environment)?;
    } else {
        let words = ["test", "--quiet", "--workspace", "--all-features", "--no-fail-fast"];
        cargo_with(root, &words, &environment)?;
    }
    cargo_with(root, &["test", "--quiet", "--workspace", "--all-features", "--doc"], &environment)
}

/// Some tests of the coordination crate on another server.
fn once_more(root: &Path, pass: &Pass) -> anyhow::Result<()> {
    let nextest = ["nextest", "run", "--no-fail-fast"];
    let plain = ["test", "--quiet", "--no-fail-fast"];
    let mut words = if has_cargo(root, "nextest") { nextest } else { plain }.to_vec();
    words.extend(["--package", "remora-coordination", "--all-features"]);
    words.extend(pass.tests.iter().flat_map(|test| ["--test", test]));
    cargo_with(root, &words, &pass.environment)
}

fn step(name: &str, act: impl FnOnce() -> anyhow::Result<()>) -> anyhow::Result<()> {
    say(&format!("── {name}"));
    act().with_context(|| format!("{name} failed"))
}

fn cargo(root: &Path, words: &[&str]) -> anyhow::Result<()> {
    cargo_with(root, words, &[])
}

fn cargo_with(root: &Path, words: &[&str], environment: &[(&str, String)]) -> anyhow::Result<()> {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(program);
    command.args(words).current_dir(root).envs(environment.iter().map(|(name, value)| (name, value)));
    let status = command.status().context("run cargo")?;
    if status.success() { Ok(()) } else { bail!("cargo {} ended with {status}", words.join(" ")) }
}

/// Whether cargo has this subcommand.
fn has_cargo(root: &Path, name: &str) -> bool {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let asked = Command::new(program)
        .args([name, "--version"])
        .current_dir(root)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    asked.is_ok_and(|status| status.success())
}

fn is_there(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

fn provide(install: bool) -> anyhow::Result<()> {
    let mut missing: Vec<&str> =
        NEEDED.iter().filter(|(program, _)| !is_there(program)).map(|(_, package)| *package).collect();
    // Debian keeps its programs beside the PATH.
    if testbed::postgres::programs().is_none() {
        missing.push("postgresql");
    }
    if !is_there("pgbouncer") && !Path::new("/usr/sbin/pgbouncer").is_file() {
        missing.push("pgbouncer");
    }
    if missing.is_empty() {
        return Ok(());
    }
    if !install {
        bail!(
            "the tests need these Debian packages: {}; `cargo xtask test --install` installs them",
            missing.join(" ")
        );
    }
    say(&format!("installing {}", missing.join(" ")));
    let _no_services = NoServices::begin()?;
    for words in [&["update", "--quiet=2"][..], &["install", "--yes", "--quiet=2", "--no-install-recommends"]]
    {
        let mut command = Command::new("apt-get");
        command.args(words).env("DEBIAN_FRONTEND", "noninteractive");
        if words[0] == "install" {
            command.args(&missing);
        }
        let status =
            command.status().context("run apt-get; install the packages by hand on other systems")?;
        if !status.success() {
            bail!("apt-get {} ended with {status}; it needs root", words[0]);
        }
    }
    Ok(())
}
