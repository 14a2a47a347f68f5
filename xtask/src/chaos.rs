//! `cargo xtask chaos` and `cargo xtask recovery`: real faults on an installation of its own; `--help` says the rest. A program
//! of its own, so that the chores do not wait for all of Remora to compile.

use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, bail};

/// Builds `remora` and the tool, and becomes it: `what` is its verb.
///
/// # Errors
/// When it cannot be built or started.
pub(crate) fn run(what: &str, args: &[String]) -> anyhow::Result<()> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let built = Command::new(&cargo)
        .args(["build", "--quiet", "--all-features", "--package", "remora-cli", "--package", "remora-chaos"])
        .args(["--package", "remora-testbed"])
        .status()
        .context("build remora and its chaos")?;
    if !built.success() {
        bail!("remora cannot be built");
    }
    let place = std::env::current_exe().context("find the build folder")?;
    let [remora, chaos, s3] =
        ["remora", "remora-chaos", "remora-testbed-s3"].map(|name| place.with_file_name(name));
    // In its place: whoever ends this process ends the tool, and with it all that the tool has started.
    let error = command(chaos)
        .env("REMORA_TEST_S3_PROGRAM", s3)
        .arg("--program")
        .arg(remora)
        .arg(what)
        .args(args)
        .exec();
    Err(error).with_context(|| format!("start {what}"))
}

/// Root may mount: in a mount namespace of its own nothing stays mounted, however it ends.
fn command(chaos: PathBuf) -> Command {
    if !rustix::process::geteuid().is_root() {
        return Command::new(chaos);
    }
    let mut command = Command::new("unshare");
    command.args(["--mount", "--propagation", "private"]).arg(chaos);
    command
}
