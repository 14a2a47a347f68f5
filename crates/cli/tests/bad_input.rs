//! Bad input and bad places: a clear message that names field, value and limit, a non-zero exit, nothing
//! stored, no panic.
#![expect(clippy::unwrap_used, reason = "these are tests")]

use std::fs;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

const REMORA: &str = env!("CARGO_BIN_EXE_remora");

struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(REMORA);
        command.args(words).current_dir(self.path()).env_remove("REMORA_DIR").env_remove("RUST_LOG");
        command.env("RUST_BACKTRACE", "1");
        command
    }

    fn remora(&self, words: &[&str]) -> Output {
        self.command(words).stdin(Stdio::null()).output().unwrap()
    }

    /// A script in the place.
    fn script(&self, name: &str, text: &str) -> String {
        let path = self.path().join(name);
        fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        format!("./{name}")
    }

    fn jobs(&self) -> usize {
        let output = self.remora(&["list", "--output", "json"]);
        let value: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        value["items"].as_array().unwrap().len()
    }
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Demands a refusal: its exit code, its words, no panic, nothing on standard output.
#[track_caller]
fn refused(output: &Output, code: i32, words: &[&str]) {
    let text = stderr(output);
    assert_eq!(output.status.code(), Some(code), "{text}");
    for word in words {
        assert!(text.contains(word), "{word:?} is missing in: {text}");
    }
    assert!(!text.contains("panicked"), "{text}");
    assert!(output.stdout.is_empty(), "{}", String::from_utf8_lossy(&output.stdout));
}

#[test]
fn a_field_that_is_wrong_is_refused_by_name_value_and_limit() {
    let place = Place::new();
    let long = "q".repeat(129);
    let cases: &[(&[&str], &[&str])] = &[
        (&["--max-attempts", "0"], &["max_attempts is 0", "1 to 32767"]),
        (&["--max-attempts", "32768"], &["max_attempts is 32768"]),
        (&["--max-attempts", "-1"], &["--max-attempts", "-1"]),
        (&["--max-attempts", "2147483648000"], &["--max-attempts"]),
        (&["--in", "-5s"], &["--in", "-5s is negative", "0s or more"]),
        (&["--in", "NaN"], &["--in", "NaN"]),
        (&["--in", "99999999999999999999s"], &["--in"]),
        (&["--at", "294277-01-01T00:00:00Z"], &["--at", "294277", "years 1 to 9999"]),
        (&["--at", "2026-01-01T00:00:00"], &["--at", "with its zone"]),
        (&["--priority", "9"], &["priority is 9", "1 (first) to 4"]),
        (&["--queue", "a b"], &["queue is a name with ' '"]),
        (&["--queue", &long], &["queue is 129 bytes long", "at most 128 bytes"]),
        (&["--kind", ""], &["kind is empty"]),
        (&["--timeout", "0s"], &["--timeout", "0s is zero"]),
        (&["--retry-base", "10m"], &["retry_base is 600000 ms", "retry_cap"]),
        (&["--idempotency-key", ""], &["idempotency_key is empty"]),
        (&["--env", "A"], &["--env", "NAME=VALUE"]),
        (&["--env", "REMORA_X=1"], &["env is REMORA_X"]),
        (&["--arg", "{"], &["args is not JSON"]),
        (&["--arg", r#""\u0000""#], &["args is not JSON", "NUL"]),
        (&["--arg", r#""\ud800""#], &["args is not JSON", "surrogate"]),
        (&["--cwd", "/no/such/folder"], &["cwd is /no/such/folder", "not a folder"]),
    ];
    for (options, words) in cases {
        let mut all = vec!["submit"];
        all.extend(*options);
        all.extend(["--", "true"]);
        refused(&place.remora(&all), 2, words);
    }
    assert!(!place.path().join(".remora").exists(), "nothing was stored");
}

#[test]
fn unknown_verbs_and_missing_words_are_wrong_usage() {
    let place = Place::new();
    refused(&place.remora(&["frobnicate"]), 2, &["unrecognized subcommand 'frobnicate'"]);
    refused(&place.remora(&["submit"]), 2, &["there is no command to run", "hint:"]);
    refused(&place.remora(&["show", "job_x"]), 2, &["`job_x` is not an id"]);
    refused(&place.remora(&["attempt", "info"]), 2, &["this is not a running attempt"]);
    refused(&place.remora(&["limits", "set"]), 2, &["there is nothing to set"]);
    refused(&place.remora(&["limits", "set", "--global", "0"]), 2, &["0 is not in 1..=1000000"]);
    refused(&place.remora(&["list", "--phase", "done"]), 2, &["`done` is not a phase", "retry_wait"]);
}

#[test]
fn words_that_are_not_utf8_are_refused_by_field() {
    let place = Place::new();
    let odd = std::ffi::OsStr::from_bytes(b"a\xffb");
    let output = place.command(&["submit", "--", "echo"]).arg(odd).output().unwrap();
    refused(&output, 2, &["command has the word", "not UTF-8"]);
}

#[test]
fn args_over_one_mebibyte_are_refused_by_size_and_limit_and_at_the_limit_taken() {
    let place = Place::new();
    for (bytes, fits) in [(1_048_576, true), (1_048_577, false), (50_000_000, false)] {
        let mut child = place
            .command(&["submit", "--arg", "-", "--", "true"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let text = format!("\"{}\"", "x".repeat(bytes - 2));
        // A refusal may come before all is read.
        let _ = child.stdin.take().unwrap().write_all(text.as_bytes());
        let output = child.wait_with_output().unwrap();
        if fits {
            assert!(output.status.success(), "{}", stderr(&output));
        } else {
            refused(&output, 2, &["args is", "bytes long; allowed is at most 1048576 bytes"]);
        }
    }
    assert_eq!(place.jobs(), 1);
}

#[test]
fn a_missing_program_fails_for_good_with_one_attempt() {
    let place = Place::new();
    fs::write(place.path().join("plain"), "text").unwrap();
    for (program, words) in [
        ("no-such-program", "there is no program `no-such-program` on the PATH"),
        ("./nothing", "there is no program `./nothing`"),
        ("./plain", "may not be executed"),
    ] {
        let output = place.remora(&["run", "--max-attempts", "5", "--", program]);
        refused(&output, 1, &[words, "1 attempt"]);
    }
}

#[test]
fn a_folder_that_cannot_be_used_is_named() {
    let place = Place::new();
    fs::write(place.path().join("file"), "").unwrap();
    for words in [&["run", "--", "true"][..], &["submit", "--", "true"], &["dev"]] {
        let mut all = vec!["--dir", "file"];
        all.extend(words);
        refused(&place.remora(&all), 1, &["cannot use the data folder", "file"]);
    }
    refused(&place.remora(&["--dir", "none", "list"]), 1, &["there is no durable store", "hint:"]);
    refused(
        &place.remora(&["--dir", "none", "worker"]),
        1,
        &["cannot connect to the owner of none", "remora dev"],
    );
    refused(&place.remora(&["--dir", "none", "workers"]), 1, &["there is no durable store", "hint:"]);
    place.remora(&["submit", "--", "true"]);
    refused(&place.remora(&["workers"]), 1, &["nobody holds coordination", "remora dev"]);
    refused(&place.remora(&["--dir", "none", "dev", "lose-coordination"]), 1, &["nobody owns"]);
}

#[test]
fn a_truncated_or_foreign_database_is_named_and_left_as_it_is() {
    let place = Place::new();
    assert!(place.remora(&["submit", "--", "true"]).status.success());
    let database = place.path().join(".remora/remora.db");
    let whole = fs::read(&database).unwrap();
    for (bytes, words) in
        [(&whole[..5_000], "is cut short: 5000 of"), (&b"hello\n"[..], "is not a database: it begins with")]
    {
        fs::write(&database, bytes).unwrap();
        for verb in [&["list"][..], &["run", "--", "true"], &["submit", "--", "true"], &["dev"]] {
            refused(&place.remora(verb), 1, &[words, "remora.db"]);
        }
        assert_eq!(fs::read(&database).unwrap(), bytes);
    }
    fs::write(&database, &whole).unwrap();
    assert_eq!(place.jobs(), 1);
}

#[test]
fn jobs_that_nobody_knows_are_not_found() {
    let place = Place::new();
    assert!(place.remora(&["submit", "--", "true"]).status.success());
    let stranger = "job_00000000000000000000000000";
    for verb in ["show", "watch", "logs", "cancel", "retry", "result"] {
        refused(&place.remora(&[verb, stranger]), 4, &["there is no job job_0000"]);
    }
}

#[test]
fn output_that_is_no_text_is_shown_marked_and_never_stops_a_job() {
    let place = Place::new();
    let script = place.script("odd.sh", r"printf 'bad \377 \000 \033[31m bytes\n' >&2; exit 3");
    let output = place.remora(&["run", "--max-attempts", "1", "--", &script]);
    assert_eq!(output.status.code(), Some(1));
    let listed = place.remora(&["list"]);
    let text = String::from_utf8(listed.stdout).unwrap();
    assert!(text.contains("exit code 3: bad \u{fffd} ␀ \u{fffd}[31m bytes"), "{text}");
}

/// Runs `remora run` with one folder of the data folder on a tmpfs of 16 MB, in a mount namespace of its own.
fn on_small_disk(place: &Place, folder: &str, program: &str) -> Output {
    fs::create_dir_all(place.path().join(".remora").join(folder)).unwrap();
    let script = format!(
        "mount -t tmpfs -o size=16m tmpfs .remora/{folder} && {REMORA} run --max-attempts 2 --retry-base 0s -- {program}; \
         code=$?; find .remora/{folder} -type f ! -name remora-target >&2; exit $code"
    );
    Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount", "sh", "-c", &script])
        .current_dir(place.path())
        .env_remove("REMORA_DIR")
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

#[test]
fn a_full_disk_fails_the_attempt_by_name_and_leaves_nothing_behind() {
    for folder in ["work", "target"] {
        let place = Place::new();
        let program = place.script("big.sh", "head -c 33000000 /dev/zero > \"$REMORA_OUTPUT/big\" || exit 9");
        let output = on_small_disk(&place, folder, &program);
        let text = stderr(&output);
        assert_eq!(output.status.code(), Some(1), "{text}");
        assert!(text.contains("No space left on device") && text.contains("2 attempts"), "{text}");
        assert!(output.stdout.is_empty(), "nothing was published");
        assert!(!text.lines().any(|line| line.starts_with(".remora/")), "left behind: {text}");
        assert!(!text.contains("panicked"), "{text}");
    }
}
