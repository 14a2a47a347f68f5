//! The same verbs over a server's HTTP API as on the rooms themselves.
#![cfg(feature = "embedded")]
#![expect(clippy::unwrap_used, reason = "these are tests")]

use std::io::{BufRead as _, BufReader, Write as _};
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
        let line = lines.find(|line| line.contains("the API is at")).unwrap();
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

/// Large and odd numbers, and empty containers.
const DIGITS: &str = r#"{"a":9007199254740993,"b":-9223372036854775808,"c":18446744073709551615,"d":0.1,"e":1e-7,"f":123456789012345678901234567890,"g":[],"h":{},"i":1.0,"j":-0.0,"k":1e400}"#;

/// Publishes its args in the second attempt, from the first one's state and output.
const ECHO: &str = r#"
if [ -e "$REMORA_STATE/args" ]; then cmp "$REMORA_STATE/args" "$REMORA_ARGS"; exit; fi
cp "$REMORA_ARGS" "$REMORA_STATE/args"
cp "$REMORA_ARGS" "$REMORA_OUTPUT/args"
remora attempt checkpoint --progress 9007199254740993/9223372036854775807
exit 1
"#;

/// Runs the echo with args from standard input, and gives its job.
fn echoed(dev: &Dev, args: &str) -> String {
    let mut command = Command::new(REMORA);
    let words = ["run", "--retry-base", "0s", "--max-attempts", "3", "--arg", "-", "--output", "json"];
    command.args(words).args(["--", "sh", "-c", ECHO]).current_dir(dev.place.path()).env_remove("REMORA_URL");
    command.env_remove("REMORA_DIR").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(args.as_bytes()).unwrap();
    let run = json(&child.wait_with_output().unwrap());
    assert_eq!((&run["phase"], &run["attempts"]), (&"succeeded".into(), &2.into()), "{run}");
    run["job"].as_str().unwrap().to_owned()
}

/// Demands that every way of looking at the job gives these args.
fn comes_back(dev: &Dev, job: &str, args: &str) {
    let looks: [fn(&Dev, &[&str]) -> Output; 2] = [|dev, words| dev.near(words), |dev, words| dev.far(words)];
    for look in looks {
        let result = look(dev, &["result", job, "args"]);
        assert_eq!(String::from_utf8_lossy(&result.stdout).trim_end(), args);
        let shown = said(&look(dev, &["show", job, "--output", "json"]));
        assert!(shown.contains(args), "{}", &shown[..shown.len().min(2_000)]);
        for words in [&["show", job][..], &["list"], &["why", job]] {
            let told = look(dev, words);
            assert!(told.status.success(), "{words:?}: {}", said(&told));
        }
    }
}

#[test]
fn g3_numbers_come_back_digit_for_digit_through_attempts_checkpoint_result_and_every_view() {
    let dev = Dev::start();
    let job = echoed(&dev, DIGITS);
    comes_back(&dev, &job, DIGITS);
    for shown in [dev.near(&["show", &job, "--output", "json"]), dev.far(&["show", &job, "--output", "json"])]
    {
        // The rest has numbers that this reader of JSON does not know.
        #[derive(serde::Deserialize)]
        struct Shown {
            progress: Value,
        }
        let Shown { progress } = serde_json::from_slice(&shown.stdout).unwrap();
        assert_eq!(progress["done"].as_u64(), Some(9_007_199_254_740_993));
        assert_eq!(progress["total"].as_u64(), Some(9_223_372_036_854_775_807));
    }
}

#[test]
fn g4_args_of_any_depth_are_carried_by_the_command_line_to_the_program_and_back() {
    let dev = Dev::start();
    for depth in [127, 128, 129, 1_000, 100_000] {
        let args = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        let job = echoed(&dev, &args);
        comes_back(&dev, &job, &args);
    }
    let twice = r#"{"a":1,"a":2}"#;
    let job = echoed(&dev, twice);
    comes_back(&dev, &job, twice);
    let shallow = dev.near(&["run", "--", "true"]);
    assert!(shallow.status.success(), "its neighbours go on: {}", said(&shallow));
}
