//! Servers that speak Redis' protocol: Debian's `redis-server`, and Valkey where a Python package of it is there.
//!
//! Promises a server without persistence, on a free port of the loopback address, ready when it is given. The program is
//! `redis-server` unless `REMORA_TEST_REDIS_SERVER` names another; `REMORA_VALKEY_SERVER` may say where Valkey's is. Does
//! not install anything.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use crate::{Folder, Server, free_port};

/// How long a server may take until it answers.
const PATIENCE: Duration = Duration::from_secs(20);

/// A private server.
#[derive(Debug)]
pub struct Redis {
    server: Server,
    port: u16,
    folder: Folder,
}

/// Where Valkey's server is, if tests are to run on it.
#[must_use]
pub fn valkey() -> Option<PathBuf> {
    std::env::var_os("REMORA_VALKEY_SERVER").map(PathBuf::from).filter(|path| path.is_file())
}

/// The program that servers are started from.
#[must_use]
pub fn program() -> PathBuf {
    std::env::var_os("REMORA_TEST_REDIS_SERVER").map_or_else(|| PathBuf::from("redis-server"), PathBuf::from)
}

/// Sends one command, its words without spaces, to whoever listens on a port of the loopback address, and gives the raw
/// beginning of the answer.
///
/// # Errors
/// When nobody answers within five seconds.
pub fn say_to(port: u16, command: &str) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(("127.0.0.1", port))?;
    stream.set_read_timeout(Some(Duration::from_secs(5)))?;
    stream.write_all(format!("{command}\r\n").as_bytes())?;
    let mut answer = vec![0; 64 * 1024];
    let length = stream.read(&mut answer)?;
    Ok(String::from_utf8_lossy(&answer[..length]).into_owned())
}

/// The URL of a server that tests of this process share, each in a pool of its own: `REMORA_TEST_REDIS`, or one that is
/// started for the process.
///
/// # Panics
/// When no server can be started.
#[must_use]
pub fn shared() -> String {
    static OWN: OnceLock<Redis> = OnceLock::new();
    std::env::var("REMORA_TEST_REDIS").unwrap_or_else(|_| OWN.get_or_init(Redis::start).url())
}

impl Redis {
    /// Starts a server from [`program`].
    ///
    /// # Panics
    /// When it is not installed, or does not answer.
    #[must_use]
    pub fn start() -> Self {
        Self::start_with(&program(), &[])
    }

    /// Starts a server program with more words.
    ///
    /// # Panics
    /// When it does not answer.
    #[must_use]
    pub fn start_with(program: &Path, more: &[&str]) -> Self {
        let folder = Folder::new("redis");
        let port = free_port();
        let dir = folder.path().display().to_string();
        let own = [
            "--bind",
            "127.0.0.1",
            "--port",
            &port.to_string(),
            "--dir",
            &dir,
            "--save",
            "",
            "--appendonly",
            "no",
        ]
        .map(str::to_owned);
        let mut words = vec![program.display().to_string()];
        words.extend(own);
        words.extend(more.iter().map(|word| (*word).to_owned()));
        let mut server = Self { server: Server::start(words, folder.path().join("log")), port, folder };
        server.wait();
        server
    }

    /// Starts a replica of another server and waits until it has followed.
    ///
    /// # Panics
    /// When it does not answer, or does not follow.
    #[must_use]
    pub fn replica_of(master: &Self) -> Self {
        let replica = Self::start();
        // By word, not by its start: one that has been promoted stays a master when it is started again.
        let answer = replica.say(&format!("REPLICAOF 127.0.0.1 {}", master.port()));
        assert!(answer.starts_with("+OK"), "{answer}");
        let began = Instant::now();
        while !replica.say("INFO replication").contains("master_link_status:up") {
            assert!(began.elapsed() < PATIENCE, "the replica does not follow: {}", replica.server.log());
            std::thread::sleep(Duration::from_millis(10));
        }
        replica
    }

    /// Its URL, without pool.
    #[must_use]
    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// Its port.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Its folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The process: to kill, freeze and thaw it.
    pub fn server(&mut self) -> &mut Server {
        &mut self.server
    }

    /// Kills it, starts it again, and waits until it answers.
    ///
    /// # Panics
    /// When it does not.
    pub fn start_again(&mut self) {
        self.server.start_again();
        self.wait();
    }

    /// Sends one command, its words without spaces, and gives the raw beginning of the answer. For tests that meddle.
    ///
    /// # Panics
    /// When the server does not answer.
    #[must_use]
    pub fn say(&self, command: &str) -> String {
        self.try_say(command).unwrap_or_else(|error| panic!("{command}: {error}\n{}", self.server.log()))
    }

    /// The same where the server may be away.
    ///
    /// # Errors
    /// When it does not answer.
    pub fn try_say(&self, command: &str) -> std::io::Result<String> {
        say_to(self.port, command)
    }

    fn wait(&mut self) {
        let began = Instant::now();
        // One that wants a password is ready, too.
        while !say_to(self.port, "PING")
            .is_ok_and(|answer| answer.starts_with("+PONG") || answer.starts_with("-NOAUTH"))
        {
            assert!(began.elapsed() < PATIENCE, "the server does not answer: {}", self.server.log());
            assert!(!self.server.has_ended(), "the server ended: {}", self.server.log());
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}
