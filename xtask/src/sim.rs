//! `cargo xtask sim`: lives seeds of the simulation; `--help` says the rest. A program of its own, so that the chores do
//! not wait for agents and workers to compile.

use std::process::Command;

use anyhow::{Context as _, bail};

/// Runs the chore.
///
/// # Errors
/// When it cannot be started, or a seed failed.
pub(crate) fn run(args: &[String]) -> anyhow::Result<()> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .args(["run", "--quiet", "--package", "remora-sim", "--"])
        .args(args)
        .status()
        .context("start the simulation")?;
    if !status.success() {
        bail!("the simulation found something");
    }
    Ok(())
}
