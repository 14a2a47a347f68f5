//! The socket in the data folder, reached through the folder's descriptor: the address of a socket holds
//! 107 bytes, the path of a folder may be longer.
//!
//! Promises: only the owner's user can connect, from the first moment on (the mode is set before the name
//! exists). Does not lock the folder: whoever binds holds its lock.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Mode, OFlags};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};
use tokio::net::{UnixListener, UnixStream};

/// The socket's name in the data folder.
pub const SOCKET: &str = "owner.sock";

/// Connections that wait to be accepted.
const BACKLOG: i32 = 1024;

fn open(folder: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(rustix::fs::openat(CWD, folder, flags, Mode::empty())?)
}

fn through(folder: &OwnedFd) -> String {
    format!("/proc/self/fd/{}/{SOCKET}", folder.as_raw_fd())
}

/// Listens in the folder; the socket of an earlier owner goes away.
pub(crate) fn bind(folder: &Path) -> io::Result<UnixListener> {
    let folder = open(folder)?;
    match rustix::fs::unlinkat(&folder, SOCKET, AtFlags::empty()) {
        Ok(()) | Err(rustix::io::Errno::NOENT) => {}
        Err(error) => return Err(error.into()),
    }
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    rustix::fs::fchmod(&socket, Mode::RUSR | Mode::WUSR)?;
    rustix::net::bind(&socket, &SocketAddrUnix::new(through(&folder))?)?;
    rustix::net::listen(&socket, BACKLOG)?;
    UnixListener::from_std(socket.into())
}

/// Removes the socket's name.
pub(crate) fn unlink(folder: &Path) -> io::Result<()> {
    Ok(rustix::fs::unlinkat(open(folder)?, SOCKET, AtFlags::empty())?)
}

/// Connects to the folder's owner.
pub(crate) async fn connect(folder: &Path) -> io::Result<UnixStream> {
    let folder = open(folder)?;
    UnixStream::connect(through(&folder)).await
}
