//! The same verbs over a server's HTTP API as on the rooms themselves.
#![cfg(feature = "embedded")]
#![expect(clippy::unwrap_used, reason = "these are tests")]

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;

const REMORA: &str = env!("CARGO_BIN_EXE_remora");

/// An owner that serves the API, and its URL.
struct Dev {
    child: Child,
    url: String,
    place: tempfile::TempDir,
    elsewhere: tempfile::TempDir,
}

impl Dev {
    fn start() -> Self {
        let place = tempfile::tempdir().unwrap();
        let mut command = Command::new(REMORA);
        command.args(["dev", "--workers", "1", "--listen", "127.0.0.1:0"]).current_dir(place.path());
        command.env_remove("REMORA_DIR").env_remove("REMORA_URL").stdin(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
        let line = lines.find(|line| line.contains("http://127.0.0.1:")).unwrap();
        // What it says later must not fill the pipe.
        std::thread::spawn(move || lines.for_each(drop));
        let url = line.split_whitespace().find(|word| word.contains("http://")).unwrap().to_owned();
        let url = url.trim_end_matches(['.', ',', ')']).to_owned();
        Self { child, url, place, elsewhere: tempfile::tempdir().unwrap() }
    }

    /// From another folder, through the API.
    fn far(&self, words: &[&str]) -> Output {
        remora(self.elsewhere.path(), words, Some(&self.url))
    }

    /// From the data folder's side.
    fn near(&self, words: &[&str]) -> Output {
        remora(self.place.path(), words, None)
    }
}

impl Drop for Dev {
    fn drop(&mut self) {
        rustix::process::kill_process(
            rustix::process::Pid::from_child(&self.child),
            rustix::process::Signal::TERM,
        )
        .unwrap();
        self.child.wait().unwrap();
    }
}

fn remora(place: &Path, words: &[&str], url: Option<&str>) -> Output {
    let mut command = Command::new(REMORA);
    command
        .args(words)
        .current_dir(place)
        .env_remove("REMORA_DIR")
        .env_remove("REMORA_URL")
        .stdin(Stdio::null());
    if let Some(url) = url {
        command.env("REMORA_URL", url);
    }
    command.output().unwrap()
}

#[track_caller]
fn json(output: &Output) -> Value {
    assert!(output.status.success(), "{}", said(output));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&[output.stdout.as_slice(), &output.stderr].concat()).into_owned()
}

#[test]
fn every_verb_gives_the_same_document_over_http() {
    let dev = Dev::start();
    let script = "echo said; printf deep > $REMORA_OUTPUT/file; remora attempt progress 1/1 done";
    let run = dev.far(&["run", "--output", "json", "--", "sh", "-c", script]);
    assert!(String::from_utf8_lossy(&run.stderr).contains("said"), "the log is followed: {}", said(&run));
    let run = json(&run);
    assert_eq!(
        (&run["phase"], &run["path"]),
        (&"succeeded".into(), &Value::Null),
        "its folder is another machine's"
    );
    let job = run["job"].as_str().unwrap();
    for words in [&["show", job][..], &["list"], &["queues"], &["limits"], &["result", job]] {
        let words: Vec<_> = words.iter().copied().chain(["--output", "json"]).collect();
        assert_eq!(json(&dev.far(&words)), json(&dev.near(&words)), "{words:?}");
    }
    assert_eq!(json(&dev.far(&["workers", "--output", "json"])).as_array().unwrap().len(), 1);
    assert_eq!(dev.far(&["logs", job]).stdout, b"said\n");
    assert_eq!(dev.far(&["result", job, "file"]).stdout, b"deep");
    assert!(dev.far(&["result", job, "--to", "copy"]).status.success());
    assert_eq!(std::fs::read(dev.elsewhere.path().join("copy/file")).unwrap(), b"deep");
    assert_eq!(dev.far(&["watch", job]).status.code(), Some(0));
    assert!(!dev.elsewhere.path().join(".remora").exists(), "nothing of it lies where it was asked from");
}

#[test]
fn changes_and_refusals_over_http_have_the_same_words_and_exit_codes() {
    let dev = Dev::start();
    assert!(dev.far(&["queues", "pause", "night"]).status.success());
    let submit = ["submit", "--queue", "night", "--idempotency-key", "k", "--output", "json", "--", "true"];
    let submitted = json(&dev.far(&submit));
    let other = dev.near(&submit);
    assert_eq!(other.status.code(), Some(5), "another working folder is another request: {}", said(&other));
    let job = submitted["job"].as_str().unwrap();
    let again = json(&dev.far(&submit));
    assert_eq!((&again["job"], &again["existed"]), (&job.into(), &true.into()));
    for side in [Dev::far, Dev::near] {
        let early = side(&dev, &["retry", job]);
        assert_eq!(early.status.code(), Some(5), "{}", said(&early));
        let bad = side(&dev, &["submit", "--priority", "9", "--", "true"]);
        assert_eq!(bad.status.code(), Some(2), "{}", said(&bad));
        assert!(said(&bad).contains("priority is 9; allowed is 1 (first) to 4"), "{}", said(&bad));
        let stranger = side(&dev, &["show", "job_01k00000000000000000000000"]);
        assert_eq!(stranger.status.code(), Some(4), "{}", said(&stranger));
    }
    assert!(said(&dev.far(&["cancel", job])).contains("is cancelled"));
    let twice = dev.far(&["cancel", job]);
    assert_eq!(twice.status.code(), Some(0), "{}", said(&twice));
    assert_eq!(json(&dev.far(&["limits", "set", "--global", "7", "--output", "json"]))["global"], 7);
    assert_eq!(json(&dev.near(&["limits", "--output", "json"]))["global"], 7);
    let gone = remora(dev.elsewhere.path(), &["list"], Some("http://127.0.0.1:1"));
    assert_eq!(gone.status.code(), Some(1), "{}", said(&gone));
}
