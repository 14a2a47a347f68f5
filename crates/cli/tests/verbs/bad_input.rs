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

#[test]
fn a_store_whose_own_disk_is_full_for_a_while_loses_no_checkpoint_and_the_result_is_right() {
    let place = Place::new();
    fs::create_dir_all(place.path().join(".remora")).unwrap();
    let program = place.script(
        "count.sh",
        "i=$(cat \"$REMORA_STATE/i\" 2>/dev/null || echo 0)
         while [ $i -lt 20 ]; do
           i=$((i+1)); echo $i >> \"$REMORA_OUTPUT/lines\" && echo $i > \"$REMORA_STATE/i\" || exit 9
           remora attempt checkpoint --progress $i/20 || exit 8
           echo $i > \"$MARK\"; sleep 0.05
         done",
    );
    let script = format!(
        "mount -t tmpfs -o size=16m tmpfs .remora
         {REMORA} run --env MARK=$PWD/mark --max-attempts 100 --retry-base 100ms -- {program} > where &
         until [ \"$(cat mark 2>/dev/null || echo 0)\" -ge 5 ]; do sleep 0.02; done
         head -c 20000000 /dev/zero > .remora/balloon
         cat mark > full; sleep 1.5; cat mark > still
         rm .remora/balloon; wait $!; code=$?
         cat \"$(cat where)/lines\" > lines; exit $code"
    );
    let output = Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount", "sh", "-c", &script])
        .current_dir(place.path())
        .env_remove("REMORA_DIR")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = stderr(&output);
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(!text.contains("panicked"), "{text}");
    let read = |name: &str| fs::read_to_string(place.path().join(name)).unwrap();
    let at = |name: &str| read(name).trim().parse::<u32>().unwrap();
    assert!(at("still") < 20 && at("still") <= at("full") + 2, "the disk was full: {text}");
    assert_eq!(read("lines"), (1..=20).map(|n| format!("{n}\n")).collect::<String>(), "{text}");
}

/// What a store can be like, as variables, and whether it is the durable one.
fn bad_stores(server: &testbed::Postgres) -> Vec<(&'static str, [String; 3], bool)> {
    let good = server.url();
    let redis = || "redis://127.0.0.1:1".to_owned();
    let target = |place: &str| format!("file:{place}");
    let durable = |url: &str| [url.to_owned(), redis(), target("/tmp")];
    let port = server.port();
    vec![
        ("an unknown host", durable("postgres://u:geheim@no-such-host.invalid/d"), true),
        ("nobody there", durable("postgres://u:geheim@127.0.0.1:1/d"), true),
        ("a wrong password", durable(&format!("postgres://u:geheim@127.0.0.1:{port}/postgres")), true),
        ("no such database", durable(&format!("postgres://postgres@127.0.0.1:{port}/nothing")), true),
        ("no schema", durable(&format!("{good}?schema=nothing")), true),
        ("a bad value", durable(&format!("{good}?connections=many")), true),
        ("no coordination", [good.clone(), "redis://u:geheim@127.0.0.1:1".to_owned(), target("/tmp")], false),
        (
            "a bad coordination",
            [good.clone(), "redis://u:geheim@127.0.0.1:1?colour=1".to_owned(), target("/tmp")],
            false,
        ),
        ("no target", [good, redis(), target("/proc/nothing")], false),
    ]
}

#[test]
fn every_command_that_cannot_reach_its_stores_ends_with_a_code_and_a_line_and_tells_no_secret() {
    let mut server = testbed::Postgres::start();
    server.say("CREATE ROLE u LOGIN PASSWORD 'other'").unwrap();
    let rules = server.folder().join("cluster/pg_hba.conf");
    let before = fs::read_to_string(&rules).unwrap();
    fs::write(&rules, format!("host all u 127.0.0.1/32 scram-sha-256\n{before}")).unwrap();
    server.start_again();
    let place = Place::new();
    let job = "job_00000000000000000000000000";
    let commands: [&[&str]; 15] = [
        &["server"],
        &["worker"],
        &["submit", "--", "true"],
        &["run", "--", "true"],
        &["list"],
        &["show", job],
        &["watch", job],
        &["logs", job],
        &["result", job],
        &["cancel", job],
        &["retry", job],
        &["workers"],
        &["queues"],
        &["limits", "set", "--global", "3"],
        &["doctor"],
    ];
    std::thread::scope(|scope| {
        for (what, rooms, is_durable) in bad_stores(&server) {
            let place = &place;
            scope.spawn(move || {
                for words in commands {
                    let [durable, coordination, target] = &rooms;
                    let output = Command::new("timeout")
                        .args([&["30", REMORA], words].concat())
                        .current_dir(place.path())
                        .env_remove("REMORA_DIR")
                        .env("REMORA_DURABLE", durable)
                        .env("REMORA_COORDINATION", coordination)
                        .env("REMORA_TARGET", target)
                        .stdin(Stdio::null())
                        .output()
                        .unwrap();
                    let text = stderr(&output);
                    let said = format!("{what}: {words:?} ended with {}\n{text}", output.status);
                    assert!(!is_durable || output.status.code().is_some_and(|code| code != 0), "{said}");
                    assert_ne!(output.status.code(), Some(124), "{said}");
                    assert!(!text.contains("panicked") && !text.contains("geheim"), "{said}");
                    let told = !text.trim().is_empty() || words == ["doctor"];
                    assert!(output.status.success() || told, "{said}");
                }
            });
        }
    });
}
