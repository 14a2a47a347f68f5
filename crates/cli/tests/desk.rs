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

#[test]
fn a_job_that_waits_for_its_time_says_when_and_programs_read_rfc_3339() {
    let place = tempfile::tempdir().unwrap();
    assert!(remora(&place, &["submit", "--in", "1h", "--", "true"]).status.success());
    let listed = String::from_utf8(remora(&place, &["list"]).stdout).unwrap();
    assert!(listed.contains("true  due 2"), "{listed}");
    let jobs = json(&remora(&place, &["list", "--output", "json"]));
    let jobs = jobs.as_array().or(jobs["jobs"].as_array()).unwrap();
    for field in ["created_at", "due_at"] {
        let moment = jobs[0][field].as_str().unwrap();
        assert!(moment.len() == 20 && &moment[10..11] == "T" && moment.ends_with('Z'), "{moment}");
    }
}

#[test]
fn a_paused_queue_is_told_to_programs_too() {
    let place = tempfile::tempdir().unwrap();
    assert!(remora(&place, &["submit", "--", "true"]).status.success());
    let paused = json(&remora(&place, &["queues", "pause", "default", "--output", "json"]));
    assert_eq!(paused, serde_json::json!({ "paused": ["default"] }));
    let resumed = json(&remora(&place, &["queues", "resume", "default", "--output", "json"]));
    assert_eq!(resumed, serde_json::json!({ "paused": [] }));
}

#[test]
fn a_result_is_copied_whole_into_an_empty_folder_and_never_over_something() {
    let place = tempfile::tempdir().unwrap();
    let script = r#"mkdir "$REMORA_OUTPUT/in" && echo deep > "$REMORA_OUTPUT/in/file" && ln -s file "$REMORA_OUTPUT/in/link" && printf '#!/bin/sh\n' > "$REMORA_OUTPUT/run" && chmod +x "$REMORA_OUTPUT/run""#;
    let run = json(&remora(&place, &["run", "--output", "json", "--", "sh", "-c", script]));
    let job = run["job"].as_str().unwrap();
    assert!(remora(&place, &["result", job, "--to", "copy"]).status.success());
    let copy = place.path().join("copy");
    assert_eq!(std::fs::read_to_string(copy.join("in/link")).unwrap(), "deep\n");
    let mode =
        std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(copy.join("run")).unwrap().permissions());
    assert_eq!(mode & 0o111, 0o111);
    let again = remora(&place, &["result", job, "--to", "copy"]);
    assert_eq!(again.status.code(), Some(5));
    assert!(String::from_utf8_lossy(&again.stderr).contains("copy is not empty"));
    let one = remora(&place, &["result", job, "in/file"]);
    assert_eq!(one.stdout, b"deep\n");
}
