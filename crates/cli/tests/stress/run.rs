//! `remora run` at a desk: verdicts, Ctrl-C once and twice, an owner that goes away, two at once.
#![expect(clippy::unwrap_used, reason = "these are tests")]

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use chaos::{Dev, DevOptions, below, kill, of_folder, send, tree, with_text, within};
use rustix::process::Signal;

const LONG: Duration = Duration::from_secs(40);
const REMORA: &str = env!("CARGO_BIN_EXE_remora");

/// A `remora run` and everything it started.
struct Run {
    child: Child,
    out: PathBuf,
    err: PathBuf,
}

impl Run {
    fn start(place: &Path, data: &Path, name: &str, words: &[&str]) -> Self {
        let (out, err) = (place.join(format!("{name}.out")), place.join(format!("{name}.err")));
        let mut command = Command::new(REMORA);
        command.arg("--dir").arg(data).arg("run").args(words).current_dir(place);
        command.stdin(Stdio::null());
        command.stdout(File::create(&out).unwrap()).stderr(File::create(&err).unwrap());
        Self { child: command.spawn().unwrap(), out, err }
    }

    fn out(&self) -> String {
        fs::read_to_string(&self.out).unwrap()
    }

    fn err(&self) -> String {
        fs::read_to_string(&self.err).unwrap()
    }

    async fn code(&mut self) -> i32 {
        let mut code = None;
        let ended = within("it ends", LONG, || {
            code = self.child.try_wait().unwrap();
            code.is_some()
        });
        ended.await.unwrap_or_else(|error| panic!("{error}: {}", fs::read_to_string(&self.err).unwrap()));
        code.unwrap().code().unwrap_or(-1)
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        let tree = tree(self.child.id());
        let _ = self.child.kill();
        let _ = self.child.wait();
        tree.into_iter().for_each(kill);
    }
}

struct Desk(tempfile::TempDir);

impl Desk {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn data(&self) -> PathBuf {
        self.0.path().join("data")
    }

    fn run(&self, name: &str, text: &str) -> Run {
        Run::start(self.0.path(), &self.data(), name, &["--", "sh", "-c", text])
    }

    async fn until(&self, file: &str) {
        within(file, LONG, || self.0.path().join(file).exists()).await.unwrap();
    }

    fn assert_silent(&self) {
        assert_eq!(of_folder(&self.data()), []);
        assert_eq!(with_text(&self.data().display().to_string()), []);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn run_ends_with_the_verdict_and_prints_the_path_alone() {
    let desk = Desk::new();
    let mut run = desk.run("good", "echo talk; echo 1 > $REMORA_OUTPUT/a");
    assert_eq!(run.code().await, 0, "{}", run.err());
    let path = run.out();
    assert_eq!(fs::read_to_string(Path::new(path.trim_end()).join("a")).unwrap(), "1\n");
    assert_eq!(path.lines().count(), 1);
    assert!(run.err().contains("talk"), "{}", run.err());
    let mut run =
        Run::start(desk.0.path(), &desk.data(), "bad", &["--max-attempts", "1", "--", "sh", "-c", "exit 7"]);
    assert_eq!(run.code().await, 1, "{}", run.err());
    assert_eq!(run.out(), "");
    assert!(run.err().contains("exit code 7"), "{}", run.err());
    desk.assert_silent();
}

#[tokio::test(flavor = "multi_thread")]
async fn ctrl_c_once_cancels_and_twice_leaves_and_the_job_goes_on_later() {
    let desk = Desk::new();
    let mut run = desk.run("once", "touch once; sleep 600");
    desk.until("once").await;
    send(run.child.id(), Signal::INT);
    assert_eq!(run.code().await, 3, "{}", run.err());
    desk.assert_silent();

    let mut run = desk.run(
        "twice",
        "trap '' TERM; touch twice; [ -e again ] && exit 0; touch again; while :; do sleep 600; done",
    );
    desk.until("again").await;
    send(run.child.id(), Signal::INT);
    within("the cancel is asked for", LONG, || run.err().contains("asking for cancel")).await.unwrap();
    send(run.child.id(), Signal::INT);
    assert_eq!(run.code().await, 130, "{}", run.err());
    within("nothing is left", Duration::from_secs(2), || of_folder(&desk.data()).is_empty()).await.unwrap();
    let mut run = desk.run("later", "true");
    assert_eq!(run.code().await, 0, "{}", run.err());
}

#[tokio::test(flavor = "multi_thread")]
async fn sigterm_to_run_ends_it_with_everything_it_started() {
    let desk = Desk::new();
    let mut run = desk.run("term", "touch term; sleep 600");
    desk.until("term").await;
    send(run.child.id(), Signal::TERM);
    let code = run.code().await;
    assert_ne!(code, 0, "{}", run.err());
    within("nothing is left", Duration::from_secs(2), || of_folder(&desk.data()).is_empty()).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn two_runs_in_one_folder_both_end_though_the_first_owns_it() {
    let desk = Desk::new();
    let mut first = desk.run("first", "touch first; sleep 2; echo 1 > $REMORA_OUTPUT/a");
    desk.until("first").await;
    let mut second = desk.run("second", "touch second; sleep 4; echo 2 > $REMORA_OUTPUT/a");
    assert_eq!(first.code().await, 0, "{}", first.err());
    assert_eq!(second.code().await, 0, "{}", second.err());
    assert_eq!(fs::read_to_string(Path::new(second.out().trim_end()).join("a")).unwrap(), "2\n");
    desk.assert_silent();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_whose_owner_is_killed_takes_its_place() {
    let mut dev = Dev::start(REMORA, DevOptions::default()).unwrap();
    dev.client().await.unwrap();
    let text = "touch started; sleep 3; echo 1 > $REMORA_OUTPUT/a";
    let mut run = Run::start(dev.place(), dev.data().root(), "run", &["--", "sh", "-c", text]);
    within("it runs", LONG, || dev.place().join("started").exists()).await.unwrap();
    assert!(below(run.child.id()).is_empty());
    dev.kill_owner().unwrap();
    assert_eq!(run.code().await, 0, "{}", run.err());
    assert_eq!(fs::read_to_string(Path::new(run.out().trim_end()).join("a")).unwrap(), "1\n");
}
