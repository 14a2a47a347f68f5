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
    let jobs = jobs["items"].as_array().unwrap();
    for field in ["created_at", "due_at"] {
        let moment = jobs[0][field].as_str().unwrap();
        assert!(moment.len() == 24 && &moment[10..11] == "T" && moment.ends_with('Z'), "{moment}");
    }
}

#[test]
fn a_paused_queue_is_told_to_programs_too() {
    let place = tempfile::tempdir().unwrap();
    assert!(remora(&place, &["submit", "--", "true"]).status.success());
    let paused = json(&remora(&place, &["queues", "pause", "default", "--output", "json"]));
    assert_eq!(paused["paused"], serde_json::json!(["default"]));
    let resumed = json(&remora(&place, &["queues", "resume", "default", "--output", "json"]));
    assert_eq!(resumed["paused"], serde_json::json!([]));
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

#[test]
fn a_job_of_a_paused_queue_says_that_it_waits_for_it() {
    let place = tempfile::tempdir().unwrap();
    let submitted = remora(&place, &["submit", "--queue", "night", "--output", "json", "--", "true"]);
    let job = json(&submitted)["job"].as_str().unwrap().to_owned();
    let shown = || String::from_utf8(remora(&place, &["show", &job]).stdout).unwrap();
    assert!(!shown().contains("waits"), "{}", shown());
    assert!(remora(&place, &["queues", "pause", "night"]).status.success());
    assert!(shown().contains("night is paused; `remora queues resume night` lets it go on"), "{}", shown());
    assert!(remora(&place, &["queues", "resume", "night"]).status.success());
    assert!(!shown().contains("waits"), "{}", shown());
}

#[test]
fn a_result_with_links_and_hostile_names_is_listed_line_by_line_and_copied_whole() {
    let place = tempfile::tempdir().unwrap();
    let script = "cd $REMORA_OUTPUT; printf x > file; ln -s file link; mkdir sub; printf y > \"$(printf 'a\\nb')\"; \
                  printf z > $(printf 'n%.0s' $(seq 220))";
    let run = remora(&place, &["run", "--output", "json", "--", "sh", "-c", script]);
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let job = json(&run)["job"].as_str().unwrap().to_owned();
    let listed = String::from_utf8(remora(&place, &["result", &job]).stdout).unwrap();
    assert_eq!(listed.lines().count(), 6, "a head and five entries: {listed}");
    assert!(listed.contains("a\\nb") && listed.contains("→ file") && listed.contains("nn…nn"), "{listed}");
    for (name, what) in [("link", "is a link to \"file\""), ("sub", "is a folder"), ("none", "has no file")] {
        let refused = remora(&place, &["result", &job, name]);
        let told = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert_eq!(refused.status.code(), Some(4), "{told}");
        assert!(told.contains(what), "{told}");
    }
    let copied = remora(&place, &["result", &job, "--to", "copy"]);
    assert!(copied.status.success(), "{}", String::from_utf8_lossy(&copied.stderr));
    let copy = place.path().join("copy");
    assert_eq!(std::fs::read(copy.join("a\nb")).unwrap(), b"y");
    assert_eq!(std::fs::read_link(copy.join("link")).unwrap(), std::path::Path::new("file"));
    assert_eq!(std::fs::read(copy.join("n".repeat(220))).unwrap(), b"z");
}

#[test]
fn a_file_where_the_data_folder_should_be_is_called_a_file() {
    let place = tempfile::tempdir().unwrap();
    std::fs::write(place.path().join("data"), "x").unwrap();
    let told = |words: &[&str]| {
        let refused = remora(&place, &[&["--dir", "data"], words].concat());
        assert_eq!(refused.status.code(), Some(1));
        String::from_utf8_lossy(&refused.stderr).into_owned()
    };
    for words in [&["list"][..], &["workers"], &["dev", "lose-coordination"]] {
        assert!(
            told(words).contains("data is a file; name a folder with --dir"),
            "{words:?}: {}",
            told(words)
        );
    }
    for words in [&["run", "--", "true"][..], &["submit", "--", "true"]] {
        assert!(told(words).contains("not a directory"), "{words:?}: {}", told(words));
    }
}
