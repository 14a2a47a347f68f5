//! One server process.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{LazyLock, mpsc};

use rustix::process::{Pid, Signal, kill_process};

/// A port of the loopback address that nobody listens on now.
///
/// # Panics
/// When the system has none left.
#[must_use]
pub fn free_port() -> u16 {
    TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port()
}

/// A server that ends with this value, and with the process that started it, also when that is killed.
#[derive(Debug)]
pub struct Server {
    child: Child,
    words: Vec<String>,
    log: PathBuf,
}

impl Server {
    /// Starts a program with its words, its output in a file. `words` begin with the program, after what `setpriv`
    /// should do first (for instance `--reuid=postgres`).
    ///
    /// # Panics
    /// When the program cannot be started.
    #[must_use]
    pub fn start(words: Vec<String>, log: PathBuf) -> Self {
        let child = spawn(&words, &log);
        Self { child, words, log }
    }

    /// Kills it at once, as `kill -9` does, and waits for its end.
    ///
    /// # Panics
    /// When it cannot be waited for.
    pub fn kill(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        self.child.wait().unwrap();
    }

    /// Asks it to end with a signal and waits for that.
    ///
    /// # Panics
    /// When it cannot be waited for.
    pub fn end(&mut self, signal: Signal) {
        self.signal(signal);
        self.child.wait().unwrap();
    }

    /// Starts it again as the first time.
    ///
    /// # Panics
    /// When the program cannot be started.
    pub fn start_again(&mut self) {
        self.kill();
        self.child = spawn(&self.words, &self.log);
    }

    /// Stops it where it is, as a machine that hangs does.
    pub fn freeze(&self) {
        self.signal(Signal::STOP);
    }

    /// Lets it go on.
    pub fn thaw(&self) {
        self.signal(Signal::CONT);
    }

    /// Whether it has ended.
    ///
    /// # Panics
    /// When its state cannot be read.
    pub fn has_ended(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    /// What it has printed.
    #[must_use]
    pub fn log(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// Its process id.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    fn signal(&self, signal: Signal) {
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        // One that has ended hears nothing.
        let _ = pid.map(|pid| kill_process(pid, signal));
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // A stopped process hears SIGKILL, too.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn spawn(words: &[String], log: &Path) -> Child {
    let out = std::fs::File::options().create(true).append(true).open(log).unwrap();
    let mut command = mortal();
    command.args(words).stdin(Stdio::null()).stdout(out.try_clone().unwrap()).stderr(out);
    let child = in_lasting_thread(move || command.spawn());
    child.unwrap_or_else(|error| panic!("start {}: {error}", words.join(" ")))
}

/// The beginning of a command that ends with the process that starts it, however that ends. The program and its words
/// follow, and it must be started [`in_lasting_thread`].
#[must_use]
pub fn mortal() -> Command {
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "KILL"]);
    command
}

/// Runs something in a thread that ends with this process only: the kernel sends the death signal when the *thread* that
/// started a process ends.
///
/// # Panics
/// When that thread has panicked: `work` must not.
pub fn in_lasting_thread<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    type Work = Box<dyn FnOnce() + Send>;
    static THREAD: LazyLock<mpsc::Sender<Work>> = LazyLock::new(|| {
        let (give, take) = mpsc::channel::<Work>();
        std::thread::spawn(move || take.into_iter().for_each(|work| work()));
        give
    });
    let (give, take) = mpsc::channel();
    let work = move || {
        // The receiver waits for just this.
        let _ = give.send(work());
    };
    THREAD.send(Box::new(work)).unwrap();
    take.recv().unwrap()
}
