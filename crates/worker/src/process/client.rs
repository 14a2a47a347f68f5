//! The program's side of its worker's socket: what `remora attempt` does.

use std::io::{self, BufRead, BufReader, Write};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags, open};

use super::{Request, Response};

/// The socket's name in the attempt's folder.
pub(super) const SOCKET: &str = "attempt.sock";
/// The variable that leads there.
pub const FOLDER_VARIABLE: &str = "REMORA_ATTEMPT_DIR";

/// Uses a folder through `/proc/self/fd`, because a socket's address holds only 107 bytes.
pub(super) fn through_descriptor<T>(
    folder: &Path,
    act: impl FnOnce(PathBuf) -> io::Result<T>,
) -> io::Result<T> {
    let descriptor = open(folder, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    act(PathBuf::from(format!("/proc/self/fd/{}", descriptor.as_raw_fd())))
}

/// Sends one request to the worker and waits for its answer.
///
/// # Errors
/// When the worker cannot be reached or does not answer.
pub fn ask(folder: &Path, request: &Request) -> io::Result<Response> {
    let mut stream = through_descriptor(folder, |short| UnixStream::connect(short.join(SOCKET)))?;
    let mut line = serde_json::to_vec(request)?;
    line.push(b'\n');
    stream.write_all(&line)?;
    let mut answer = String::new();
    BufReader::new(stream).read_line(&mut answer)?;
    if answer.is_empty() {
        return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the worker closed the connection"));
    }
    Ok(serde_json::from_str(&answer)?)
}
