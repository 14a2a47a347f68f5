//! The warden process itself. Blocking and small on purpose: it must work when everything else does not.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::fd::AsFd;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::thread;
use std::time::Duration;

use process_wrap::std::{CommandWrap, ProcessSession};
use runtime::{Clock, SystemClock};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Signal, WaitOptions, getpid, set_child_subreaper, setsid, wait};

use super::{Order, Report, Start, kill_descendants};

/// Between two rounds of killing what is left.
const ROUND: Duration = Duration::from_millis(2);

/// The warden's whole life: reads [`Start`] from standard input, runs it, answers on standard output.
/// Standard error is the program's log.
#[must_use]
pub fn warden_main() -> ExitCode {
    // Already leading a session is as good.
    let _ = setsid();
    if set_child_subreaper(Some(getpid())).is_err() {
        return ExitCode::FAILURE;
    }
    // A handle of its own: the library's buffer would hide from `poll` what it has read ahead.
    let Ok(input) = io::stdin().as_fd().try_clone_to_owned().map(File::from) else {
        return ExitCode::FAILURE;
    };
    let mut input = BufReader::new(input);
    let mut line = String::new();
    let start: Start = match input.read_line(&mut line).map(|_| serde_json::from_str(&line)) {
        Ok(Ok(start)) => start,
        _ => return ExitCode::FAILURE,
    };
    let own = getpid().as_raw_nonzero().get();
    let program = match spawn(&start) {
        Ok(program) => program,
        Err(report) => {
            say(&report);
            say(&Report::Empty);
            return ExitCode::SUCCESS;
        }
    };
    let early = input.buffer().to_vec();
    thread::spawn(move || obey(own, start.deadline, early, input.into_inner()));
    reap(own, program);
    say(&Report::Empty);
    ExitCode::SUCCESS
}

/// Waits for everything below; after the program's own end kills what is left.
fn reap(own: i32, program: i32) {
    let mut program_ended = false;
    loop {
        let options = if program_ended { WaitOptions::NOHANG } else { WaitOptions::empty() };
        match wait(options) {
            Ok(Some((pid, status))) if pid.as_raw_nonzero().get() == program => {
                program_ended = true;
                say(&status.exit_status().map_or_else(
                    || Report::Signalled(status.terminating_signal().unwrap_or(0)),
                    Report::Exited,
                ));
            }
            Ok(Some(_)) => {}
            Ok(None) => {
                kill_descendants(own, Signal::KILL);
                thread::sleep(ROUND);
            }
            Err(rustix::io::Errno::INTR) => {}
            // ECHILD: the tree is empty.
            Err(_) => return,
        }
    }
}

fn spawn(start: &Start) -> Result<i32, Report> {
    let (name, words) =
        start.argv.split_first().ok_or_else(|| cannot_start(true, "the command is empty".into()))?;
    let log =
        io::stderr().as_fd().try_clone_to_owned().map_err(|error| cannot_start(false, error.to_string()))?;
    let mut command = Command::new(name);
    command
        .args(words)
        .current_dir(&start.cwd)
        .env_clear()
        .envs(start.env.iter().map(|(key, value)| (key, value)));
    command.stdin(Stdio::null()).stdout(Stdio::from(log)).stderr(Stdio::inherit());
    let spawned = CommandWrap::from(command).wrap(ProcessSession).spawn();
    let child = spawned.map_err(|error| {
        let permanent = matches!(
            error.kind(),
            io::ErrorKind::NotFound
                | io::ErrorKind::PermissionDenied
                | io::ErrorKind::ArgumentListTooLong
                | io::ErrorKind::InvalidInput
                | io::ErrorKind::NotADirectory
                | io::ErrorKind::IsADirectory
        ) || error.raw_os_error() == Some(rustix::io::Errno::NOEXEC.raw_os_error());
        cannot_start(permanent, explain(name, start, &error))
    })?;
    i32::try_from(child.id()).map_err(|error| cannot_start(false, error.to_string()))
}

fn cannot_start(permanent: bool, text: String) -> Report {
    Report::CannotStart { permanent, text }
}

fn explain(name: &str, start: &Start, error: &io::Error) -> String {
    let path = start.env.iter().find(|(key, _)| key == "PATH").map_or("", |(_, path)| path);
    let found = name.contains('/') && Path::new(&start.cwd).join(name).exists()
        || !name.contains('/')
            && std::env::split_paths(OsStr::new(path)).any(|folder| folder.join(name).exists());
    match error.kind() {
        io::ErrorKind::NotFound if found => {
            format!("the program `{name}` is there, but what runs it (its `#!` line or loader) is not")
        }
        io::ErrorKind::NotFound if name.contains('/') => format!("there is no program `{name}`"),
        io::ErrorKind::NotFound => format!("there is no program `{name}` on the PATH"),
        io::ErrorKind::PermissionDenied => format!("the program `{name}` may not be executed"),
        _ => format!("cannot start the program `{name}`: {error}"),
    }
}

/// Follows the worker's orders until the pipe closes or the deadline passes, then kills without end.
fn obey(own: i32, mut deadline: Duration, mut pending: Vec<u8>, mut input: File) {
    loop {
        while let Some(end) = pending.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = pending.drain(..=end).collect();
            match serde_json::from_slice(&line) {
                Ok(Order::Deadline(new)) => deadline = new,
                Ok(Order::Term) => {
                    kill_descendants(own, Signal::TERM);
                }
                Ok(Order::Kill) | Err(_) => kill_for_good(own),
            }
        }
        let Some(rest) = deadline.checked_sub(SystemClock.boottime()) else {
            // Told first, so that it comes before the program's own end. The pipe has room for the few lines
            // that are ever written, whether or not anybody reads.
            say(&Report::Overdue);
            kill_for_good(own)
        };
        match wait_for_input(&input, rest) {
            Ok(false) => continue,
            Ok(true) => {}
            Err(_) => kill_for_good(own),
        }
        let mut buffer = [0; 4096];
        match input.read(&mut buffer) {
            Ok(0) => kill_for_good(own),
            Ok(read) => pending.extend_from_slice(&buffer[..read]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => kill_for_good(own),
        }
    }
}

/// Whether there is something to read before so long has passed. Wakes at least once a second, because the
/// poll's own clock stops while the machine sleeps and the deadline's does not.
fn wait_for_input(input: &File, rest: Duration) -> rustix::io::Result<bool> {
    let rest = rest.min(Duration::from_secs(1));
    let timeout = Timespec {
        tv_sec: i64::try_from(rest.as_secs()).unwrap_or(1),
        tv_nsec: i64::from(rest.subsec_nanos()),
    };
    let mut fds = [PollFd::new(input, PollFlags::IN)];
    match poll(&mut fds, Some(&timeout)) {
        Ok(ready) => Ok(ready > 0),
        Err(rustix::io::Errno::INTR) => Ok(false),
        Err(error) => Err(error),
    }
}

/// The other thread ends the process once the tree is empty.
fn kill_for_good(own: i32) -> ! {
    loop {
        kill_descendants(own, Signal::KILL);
        thread::sleep(ROUND);
    }
}

fn say(report: &Report) {
    if let Ok(mut line) = serde_json::to_vec(report) {
        line.push(b'\n');
        let mut output = io::stdout().lock();
        // A worker that has gone reads nothing; the tree is killed all the same.
        let _ = output.write_all(&line).and_then(|()| output.flush());
    }
}
