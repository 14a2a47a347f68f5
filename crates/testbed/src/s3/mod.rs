//! S3 servers: one in process, the same as a process that can be killed and frozen, and moto.
//!
//! Promises that the first two keep what they acknowledged (they hold it in a folder) and that conditional writes are
//! atomic there. moto loses its data when it ends. All speak plain HTTP on the loopback address and know [`ACCESS_KEY`]
//! with [`SECRET_KEY`]; moto takes any.

mod serve;
mod store;

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use crate::{Folder, Server, free_port};

pub use serve::{InProcess, serve};
pub use store::Store;

/// The key that the servers know.
pub const ACCESS_KEY: &str = "testbed";
/// Its secret.
pub const SECRET_KEY: &str = "testbed-secret";
/// The bucket that every server here begins with.
pub const BUCKET: &str = "bucket";

/// Names a `remora-testbed-s3` that is built already.
pub const PROGRAM: &str = "REMORA_TEST_S3_PROGRAM";
/// Names a Python that has `moto[server]`; without it one is made, once, in the build folder.
const MOTO: &str = "REMORA_TEST_MOTO";
/// What pip is asked for.
const MOTO_PACKAGE: &str = "moto[server,s3]==5.2.5";
const START: Duration = Duration::from_secs(60);

/// A server process of its own.
#[derive(Debug)]
pub struct S3Server {
    /// The process: to kill, freeze and start again.
    pub server: Server,
    folder: Folder,
    port: u16,
}

impl S3Server {
    /// Starts `remora-testbed-s3`, built if need be, and waits until it answers.
    ///
    /// # Panics
    /// When it cannot be built or does not answer within a minute.
    #[must_use]
    pub fn start() -> Self {
        let folder = Folder::new("s3");
        let data = folder.path().join("data");
        let port = free_port();
        let words = [binary(), &data].map(|word| word.to_str().unwrap().to_owned());
        let [binary, data] = words;
        let words = vec![binary, port.to_string(), data, BUCKET.to_owned()];
        let server = Server::start(words, folder.path().join("log"));
        let mut this = Self { server, folder, port };
        this.wait();
        this
    }

    /// Starts moto, or says why there is none.
    ///
    /// # Errors
    /// When neither a named Python has it nor pip can get it.
    ///
    /// # Panics
    /// When it is there and does not answer within a minute.
    pub fn start_moto() -> Result<Self, String> {
        let moto = moto()?;
        let folder = Folder::new("moto");
        let port = free_port();
        let script = "import sys; from moto.server import main; main(sys.argv[1:])";
        let words = [moto.to_str().unwrap(), "-c", script, "-H", "127.0.0.1", "-p"].map(str::to_owned);
        let words = words.into_iter().chain([port.to_string()]).collect();
        let server = Server::start(words, folder.path().join("log"));
        let mut this = Self { server, folder, port };
        this.wait();
        this.make_bucket();
        Ok(this)
    }

    /// Where it answers: `http://127.0.0.1:<port>`.
    #[must_use]
    pub fn endpoint(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Its port.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Where it keeps its log and, if it keeps any, its data.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Kills it and starts it again on the same port, with the same data.
    ///
    /// # Panics
    /// When it does not answer within a minute.
    pub fn start_again(&mut self) {
        self.server.start_again();
        self.wait();
    }

    /// moto begins with nothing, and asks for no signature.
    fn make_bucket(&self) {
        let mut socket = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        let asked = format!(
            "PUT /{BUCKET} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
            self.port
        );
        socket.write_all(asked.as_bytes()).unwrap();
        let mut answer = String::new();
        socket.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    }

    fn wait(&mut self) {
        let until = Instant::now() + START;
        while TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            let late = Instant::now() > until || self.server.has_ended();
            assert!(!late, "the S3 server does not answer; it said: {}", self.server.log());
            // There is nothing else to wait for: the server says nothing when it is ready.
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

fn profile_folder() -> PathBuf {
    let exe = std::env::current_exe().unwrap();
    let deps = exe.parent().unwrap();
    if deps.ends_with("deps") { deps.parent().unwrap().to_owned() } else { deps.to_owned() }
}

/// Built by whoever asks first, unless [`PROGRAM`] names one; cargo itself keeps two from building at once.
fn binary() -> &'static PathBuf {
    static BINARY: std::sync::OnceLock<PathBuf> = std::sync::OnceLock::new();
    BINARY.get_or_init(|| {
        if let Some(named) = std::env::var_os(PROGRAM) {
            return named.into();
        }
        let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
        let built = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
            .args([
                "build",
                "--quiet",
                "--features",
                "s3",
                "--bin",
                "remora-testbed-s3",
                "--manifest-path",
                manifest,
            ])
            .arg("--target-dir")
            .arg(profile_folder().parent().unwrap())
            .status()
            .unwrap();
        assert!(built.success(), "remora-testbed-s3 cannot be built");
        profile_folder().with_file_name("debug").join("remora-testbed-s3")
    })
}

/// A Python with moto.
fn moto() -> Result<PathBuf, String> {
    if let Some(named) = std::env::var_os(MOTO) {
        return Ok(named.into());
    }
    let folder = profile_folder().with_file_name("moto");
    let python = folder.join("bin/python");
    std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    let lock = std::fs::File::create(folder.join("lock")).map_err(|error| error.to_string())?;
    rustix::fs::flock(&lock, rustix::fs::FlockOperation::LockExclusive).map_err(|error| error.to_string())?;
    let has_it = || run(&python, &["-c", "import moto.server"]);
    if has_it().is_ok() {
        return Ok(python);
    }
    let environment = folder.to_str().unwrap();
    run("python3".as_ref(), &["-m", "venv", environment])?;
    run(&python, &["-m", "pip", "install", "--quiet", MOTO_PACKAGE])?;
    has_it()?;
    Ok(python)
}

fn run(program: &Path, words: &[&str]) -> Result<(), String> {
    let shown = format!("{} {}", program.display(), words.join(" "));
    let ran = Command::new(program).args(words).output().map_err(|error| format!("{shown}: {error}"))?;
    if ran.status.success() {
        Ok(())
    } else {
        Err(format!("{shown}: {}", String::from_utf8_lossy(&ran.stderr)))
    }
}
