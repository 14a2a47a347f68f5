//! Small things that a person at a desk notices.
#![expect(clippy::unwrap_used, reason = "these are tests")]

use std::process::{Command, Output, Stdio};

const REMORA: &str = env!("CARGO_BIN_EXE_remora");

fn remora(place: &tempfile::TempDir, words: &[&str]) -> Output {
    let mut command = Command::new(REMORA);
    command.args(words).current_dir(place.path()).env_remove("REMORA_DIR").env_remove("RUST_LOG");
    command.stdin(Stdio::null()).output().unwrap()
}

fn json(output: &Output) -> serde_json::Value {
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn a_checkpoint_that_says_nothing_of_progress_keeps_what_was_shown_last() {
    let place = tempfile::tempdir().unwrap();
    let script = "remora attempt progress 4/10 fourth && remora attempt checkpoint";
    let run = remora(&place, &["run", "--output", "json", "--", "sh", "-c", script]);
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let run = json(&run);
    let job = run["job"].as_str().unwrap();
    let shown = json(&remora(&place, &["show", job, "--output", "json"]));
    assert_eq!(shown["progress"], serde_json::json!({ "done": 4, "total": 10, "message": "fourth" }));
    let listed = String::from_utf8(remora(&place, &["list"]).stdout).unwrap();
    assert!(listed.contains("sh -c") && listed.contains("4/10"), "{listed}");
    assert_eq!(json(&remora(&place, &["watch", job, "--output", "json"])), run);
    let path = json(&remora(&place, &["result", "--path", job, "--output", "json"]));
    assert_eq!(path["path"], run["path"]);
}

#[test]
fn a_closed_pipe_is_no_fault() {
    let mut child = Command::new(REMORA)
        .args(["completions", "bash"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
}
