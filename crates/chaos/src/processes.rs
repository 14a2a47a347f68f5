//! Processes of the system: finding, killing, freezing.

use std::fs;
use std::path::Path;
use std::process::Command;

use process_wrap::std::{ChildWrapper, CommandWrap, ProcessSession};
use rustix::process::{Pid, Signal, kill_process};

/// A process that belongs to a data folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Its id.
    pub pid: u32,
    /// Its command, words parted by spaces.
    pub command: String,
}

/// The beginning of a command that runs a program and ends with this process, however this one ends.
pub(crate) fn mortal(program: &Path) -> Command {
    let mut command = testbed::mortal();
    command.arg("--").arg(program);
    command
}

/// Starts such a command in a session of its own.
pub(crate) fn spawn(command: Command) -> std::io::Result<Box<dyn ChildWrapper>> {
    testbed::in_lasting_thread(move || CommandWrap::from(command).wrap(ProcessSession).spawn())
}

/// Sends a signal; a process that is gone needs none.
pub fn send(pid: u32, signal: Signal) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        // Gone meanwhile is as good.
        let _ = kill_process(pid, signal);
    }
}

/// SIGKILL.
pub fn kill(pid: u32) {
    send(pid, Signal::KILL);
}

/// SIGSTOP.
pub fn freeze(pid: u32) {
    send(pid, Signal::STOP);
}

/// SIGCONT.
pub fn thaw(pid: u32) {
    send(pid, Signal::CONT);
}

fn state(pid: u32) -> Option<char> {
    let stat = fs::read(format!("/proc/{pid}/stat")).ok()?;
    let after = stat.iter().rposition(|byte| *byte == b')')?;
    stat.get(after + 2).map(|byte| char::from(*byte))
}

/// Whether a process of this id runs (a zombie does not).
#[must_use]
pub fn exists(pid: u32) -> bool {
    state(pid).is_some_and(|state| !matches!(state, 'Z' | 'X'))
}

/// Whether it has ended and nobody has waited for it.
#[must_use]
pub fn is_zombie(pid: u32) -> bool {
    state(pid) == Some('Z')
}

fn all() -> impl Iterator<Item = u32> {
    fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

fn command(pid: u32) -> String {
    let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let words: Vec<u8> = words.into_iter().map(|byte| if byte == 0 { b' ' } else { byte }).collect();
    String::from_utf8_lossy(&words).trim_end().to_owned()
}

/// Programs of attempts of this data folder, by the variable that each of them inherits.
#[must_use]
pub fn of_folder(folder: &Path) -> Vec<Found> {
    let wanted = format!("REMORA_ATTEMPT_DIR={}/", folder.display());
    all()
        .filter(|pid| {
            let environ = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            environ.split(|byte| *byte == 0).any(|variable| variable.starts_with(wanted.as_bytes()))
                && exists(*pid)
        })
        .map(|pid| Found { pid, command: command(pid) })
        .collect()
}

/// Living processes whose command has this text.
#[must_use]
pub fn with_text(text: &str) -> Vec<Found> {
    all()
        .filter(|pid| exists(*pid))
        .map(|pid| Found { pid, command: command(pid) })
        .filter(|found| found.command.contains(text))
        .collect()
}

fn parent(pid: u32) -> Option<u32> {
    let stat = fs::read(format!("/proc/{pid}/stat")).ok()?;
    let after = stat.iter().rposition(|byte| *byte == b')')?;
    String::from_utf8_lossy(&stat[after + 1..]).split_ascii_whitespace().nth(1)?.parse().ok()
}

/// Direct children, zombies included.
#[must_use]
pub fn below(pid: u32) -> Vec<u32> {
    all().filter(|child| parent(*child) == Some(pid)).collect()
}

/// All descendants.
#[must_use]
pub fn tree(pid: u32) -> Vec<u32> {
    let mut found = below(pid);
    let mut next = 0;
    while let Some(parent) = found.get(next).copied() {
        found.extend(below(parent));
        next += 1;
    }
    found
}

/// Memory in use (`VmRSS`).
#[must_use]
pub fn resident_bytes(pid: u32) -> u64 {
    status_bytes(pid, "VmRSS:")
}

/// Addresses in use (`VmSize`).
#[must_use]
pub fn virtual_bytes(pid: u32) -> u64 {
    status_bytes(pid, "VmSize:")
}

fn status_bytes(pid: u32, field: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(field));
    line.and_then(|line| line.split_ascii_whitespace().next()?.parse::<u64>().ok()).unwrap_or(0) * 1024
}
