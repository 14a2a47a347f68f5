//! PostgreSQL: a private server with its own cluster, or one that the whole test run shares.
//!
//! Promises a server that nobody else uses, as Debian's packages bring it, with a superuser `postgres` that needs no
//! password, on a port of the loopback address and on a socket in the server's folder. Does not wait for the disk
//! (`fsync=off`) unless asked to: a killed *server* loses nothing that way, a killed machine would. Making a cluster
//! costs a second, so it is made once per machine and copied.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use crate::{Folder, Server, free_port};

/// The variable that names a running server: a URL of a superuser.
pub const SHARED: &str = "REMORA_TEST_POSTGRES";

/// How long a server may take to answer.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server and its cluster. Both go with the value.
#[derive(Debug)]
pub struct Postgres {
    server: Server,
    folder: Folder,
    port: u16,
}

impl Postgres {
    /// Starts one.
    ///
    /// # Panics
    /// When PostgreSQL is not installed or does not start.
    #[must_use]
    pub fn start() -> Self {
        Self::start_with(&[])
    }

    /// Starts one with settings, such as `("fsync", "on")`.
    ///
    /// # Panics
    /// When PostgreSQL is not installed or does not start.
    #[must_use]
    pub fn start_with(settings: &[(&str, &str)]) -> Self {
        let folder = Folder::new("postgres");
        give_to_postgres(folder.path());
        run(Command::new("cp").args(["-a", "--reflink=auto"]).arg(template()).arg(cluster(folder.path())));
        Self::serve(folder, settings)
    }

    /// A standby that follows another server and answers reads. It has what is there when it is made, and all that follows.
    ///
    /// # Panics
    /// When PostgreSQL cannot copy the cluster, or does not start.
    #[must_use]
    pub fn standby_of(other: &Self) -> Self {
        let folder = Folder::new("standby");
        give_to_postgres(folder.path());
        let mut words = as_postgres();
        words.extend([program("pg_basebackup").display().to_string(), "-R".to_owned(), "-D".to_owned()]);
        words.push(cluster(folder.path()).display().to_string());
        let more = ["-h", "127.0.0.1", "-U", "postgres", "-c", "fast", "-p"];
        words.extend(more.map(str::to_owned));
        words.push(other.port.to_string());
        match words.split_first() {
            Some((first, _)) if first.starts_with("--") => run(Command::new("setpriv").args(&words)),
            Some((first, rest)) => run(Command::new(first).args(rest)),
            None => String::new(),
        };
        Self::serve(folder, &[])
    }

    /// Makes a standby a server of its own, and waits for that.
    ///
    /// # Panics
    /// When it is none, or does not answer.
    pub fn promote(&self) {
        self.say(include_str!("sql/promote.sql")).unwrap();
    }

    fn serve(folder: Folder, settings: &[(&str, &str)]) -> Self {
        let cluster = cluster(folder.path());
        let port = free_port();
        let socket = folder.path().display().to_string();
        let defaults = [
            ("fsync", "off"),
            ("full_page_writes", "off"),
            ("max_connections", "200"),
            ("listen_addresses", "127.0.0.1"),
            ("unix_socket_directories", &socket),
            ("timezone", "UTC"),
        ];
        let settings: BTreeMap<_, _> = defaults.into_iter().chain(settings.iter().copied()).collect();
        let mut words = as_postgres();
        words.extend([
            program("postgres").display().to_string(),
            "-D".to_owned(),
            cluster.display().to_string(),
        ]);
        words.extend(["-p".to_owned(), port.to_string()]);
        words.extend(settings.iter().flat_map(|(name, value)| ["-c".to_owned(), format!("{name}={value}")]));
        let server = Server::start(words, folder.path().join("log"));
        let mut postgres = Self { server, folder, port };
        postgres.wait();
        postgres
    }

    /// The URL of its superuser, over TCP.
    #[must_use]
    pub fn url(&self) -> String {
        format!("postgres://postgres@127.0.0.1:{}/postgres", self.port)
    }

    /// The folder: the cluster is in `cluster`, the socket beside it.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Its port.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The process: to kill, to freeze, to end with a signal.
    pub fn server(&mut self) -> &mut Server {
        &mut self.server
    }

    /// Runs one command as the superuser, over the socket, and gives what it answers.
    ///
    /// # Errors
    /// With what `psql` said, when the server refuses it or is away.
    ///
    /// # Panics
    /// When there is no `psql`.
    pub fn say(&self, command: &str) -> Result<String, String> {
        let folder = self.folder.path().display().to_string();
        let output = Command::new(program("psql"))
            .args(["-X", "-q", "-A", "-t", "-h", &folder, "-p", &self.port.to_string(), "-U", "postgres"])
            .args(["-v", "ON_ERROR_STOP=1", "-c", command, "postgres"])
            .env(
                "PGOPTIONS",
                "-c default_transaction_read_only=off -c default_transaction_isolation=read\\ committed",
            )
            .env("PGCONNECT_TIMEOUT", "5")
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
        if output.status.success() { Ok(text(&output.stdout)) } else { Err(text(&output.stderr)) }
    }

    /// Ends every session of its clients (`pg_terminate_backend`), and says how many.
    ///
    /// # Errors
    /// When it is away.
    pub fn end_sessions(&self) -> Result<String, String> {
        self.say(include_str!("sql/end_sessions.sql"))
    }

    /// Changes a setting for all sessions to come, and for those that stand where it can be changed there; `None`: what it was
    /// at first.
    ///
    /// # Errors
    /// When it is away, or does not know the setting.
    pub fn set(&self, setting: &str, value: Option<&str>) -> Result<(), String> {
        let command = match value {
            Some(value) => format!("ALTER SYSTEM SET {setting} = '{value}'"),
            None => format!("ALTER SYSTEM RESET {setting}"),
        };
        self.say(&command)?;
        self.say(include_str!("sql/reload.sql")).map(drop)
    }

    /// Starts it again on the same cluster and port, and waits until it answers. `pg_hba.conf` and files beside it may
    /// have been changed before.
    ///
    /// # Panics
    /// When it does not come back.
    pub fn start_again(&mut self) {
        let deadline = Instant::now() + PATIENCE;
        loop {
            // Back-ends of a killed server leave by themselves, a little later; until then a new one ends at once.
            self.server.start_again();
            if self.answers_before_it_ends() {
                return;
            }
            assert!(Instant::now() < deadline, "postgres does not come back: {}", self.server.log());
        }
    }

    fn wait(&mut self) {
        assert!(self.answers_before_it_ends(), "postgres does not start: {}", self.server.log());
    }

    fn answers_before_it_ends(&mut self) -> bool {
        let deadline = Instant::now() + PATIENCE;
        while Instant::now() < deadline && !self.server.has_ended() {
            let ready = Command::new(program("pg_isready"))
                .args(["-q", "-h", &self.folder.path().display().to_string(), "-p", &self.port.to_string()])
                .status();
            if ready.is_ok_and(|status| status.success()) {
                return true;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        false
    }
}

/// pgbouncer in front of a server.
#[derive(Debug)]
pub struct Pooler {
    _server: Server,
    _folder: Folder,
    port: u16,
}

impl Pooler {
    /// Starts one with a pool mode (`transaction`, `session`) and four sessions of the server.
    ///
    /// # Panics
    /// When pgbouncer is not installed or does not start.
    #[must_use]
    pub fn start(server: &Postgres, mode: &str) -> Self {
        let program = Path::new("/usr/sbin/pgbouncer");
        assert!(program.is_file(), "pgbouncer is not installed: apt-get install pgbouncer");
        let folder = Folder::new("pgbouncer");
        let port = free_port();
        let users = folder.path().join("users");
        let settings = folder.path().join("pgbouncer.ini");
        std::fs::write(&users, "\"postgres\" \"\"\n").unwrap();
        let text = format!(
            "[databases]\n* = host=127.0.0.1 port={}\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\n\
             unix_socket_dir =\nauth_type = trust\nauth_file = {}\npool_mode = {mode}\ndefault_pool_size = 4\n",
            server.port(),
            users.display(),
        );
        std::fs::write(&settings, text).unwrap();
        give_to_postgres(folder.path());
        let mut words = as_postgres();
        words.extend([program.display().to_string(), settings.display().to_string()]);
        let pooler = Server::start(words, folder.path().join("log"));
        let deadline = Instant::now() + PATIENCE;
        while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(Instant::now() < deadline, "pgbouncer does not start: {}", pooler.log());
            std::thread::sleep(Duration::from_millis(5));
        }
        Self { _server: pooler, _folder: folder, port }
    }

    /// The URL of the superuser behind it.
    #[must_use]
    pub fn url(&self) -> String {
        format!("postgres://postgres@127.0.0.1:{}/postgres", self.port)
    }
}

/// The URL of a superuser of the server that [`SHARED`] names, else of one that this process starts at first need.
///
/// # Panics
/// When there is none and none can be started.
#[must_use]
pub fn shared() -> String {
    static OWN: OnceLock<Postgres> = OnceLock::new();
    std::env::var(SHARED).unwrap_or_else(|_| OWN.get_or_init(Postgres::start).url())
}

/// Where Debian keeps PostgreSQL's programs: not on the PATH, one folder a version. The newest is taken.
#[must_use]
pub fn programs() -> Option<PathBuf> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").ok()?.flatten().map(|entry| entry.path());
    let mut found: Vec<_> = versions.filter(|path| path.join("bin/postgres").is_file()).collect();
    found.sort_by_key(|path| {
        path.file_name().and_then(OsStr::to_str).and_then(|name| name.parse::<u32>().ok())
    });
    found.pop().map(|path| path.join("bin"))
}

fn program(name: &str) -> PathBuf {
    programs().unwrap_or_else(|| panic!("PostgreSQL is not installed: apt-get install postgresql")).join(name)
}

/// Where a server keeps its cluster.
fn cluster(folder: &Path) -> PathBuf {
    folder.join("cluster")
}

/// A cluster to copy. Made under another name first, so that what is there is whole.
fn template() -> PathBuf {
    let version = run(Command::new(program("postgres")).arg("--version"));
    let version: String = version.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '.').collect();
    let place = std::env::temp_dir().join(format!("remora-testbed-template-{version}"));
    if !place.is_dir() {
        let folder = Folder::new("initdb");
        give_to_postgres(folder.path());
        let made = folder.path().join("cluster");
        let words = as_postgres();
        run(Command::new("setpriv")
            .args(&words)
            .arg(program("initdb"))
            .args([
                "--no-sync",
                "--encoding=UTF8",
                "--locale=C.UTF-8",
                "--auth=trust",
                "--username=postgres",
                "-D",
            ])
            .arg(&made));
        // Somebody else may have been faster: theirs is as good.
        let _ = std::fs::rename(&made, &place);
    }
    place
}

/// What `setpriv` does first: PostgreSQL refuses to run as root.
fn as_postgres() -> Vec<String> {
    if !rustix::process::geteuid().is_root() {
        return Vec::new();
    }
    ["--reuid=postgres", "--regid=postgres", "--clear-groups"].map(str::to_owned).to_vec()
}

/// Gives a folder and what is in it to the user that servers run as, and to nobody else.
///
/// # Panics
/// When there is no such user.
pub fn give_to_postgres(folder: &Path) {
    if rustix::process::geteuid().is_root() {
        run(Command::new("chown").args(["-R", "postgres:postgres"]).arg(folder));
    }
    run(Command::new("chmod").args(["-R", "go="]).arg(folder));
}

fn run(command: &mut Command) -> String {
    let output = command.stdin(Stdio::null()).output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{command:?}: {}", text(&output.stderr));
    text(&output.stdout)
}
