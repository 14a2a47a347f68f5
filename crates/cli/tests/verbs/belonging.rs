//! A process that names rooms of different installations is refused before it does anything.
#![cfg(feature = "fleet")]
#![expect(clippy::unwrap_used, reason = "these are tests")]

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

const REMORA: &str = env!("CARGO_BIN_EXE_remora");
const PATIENCE: Duration = Duration::from_secs(30);

/// Rooms that are named together, from one place.
#[derive(Clone)]
struct Named {
    durable: String,
    coordination: String,
    target: String,
    place: PathBuf,
}

impl Named {
    /// A schema, a pool and a folder of this name.
    fn new(place: &Path, name: &str, coordination: &str) -> Self {
        let name = format!("{name}_{}", std::process::id());
        let named = Self {
            durable: format!("{}?sslmode=disable&schema={name}", testbed::postgres::shared()),
            coordination: format!(
                "{coordination}{}pool={name}",
                if coordination.contains('?') { '&' } else { '?' }
            ),
            target: format!("file:{}", place.join(&name).display()),
            place: place.to_owned(),
        };
        let made = named.remora(&["migrate", "up"]);
        assert!(made.status.success(), "{}", said(&made));
        named
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(REMORA);
        command.args(words).current_dir(&self.place).stdin(Stdio::null());
        for (name, value) in [
            ("REMORA_DURABLE", &self.durable),
            ("REMORA_COORDINATION", &self.coordination),
            ("REMORA_TARGET", &self.target),
        ] {
            command.env(name, value);
        }
        command
    }

    fn remora(&self, words: &[&str]) -> Output {
        self.command(words).output().unwrap()
    }

    /// A server with a worker, both at work.
    fn serve(&self) -> Running {
        let log = std::fs::File::create(self.place.join("server.log")).unwrap();
        let mut command = self.command(&["server", "--workers", "1", "--listen", "none"]);
        let running = Running(command.stdout(Stdio::null()).stderr(log).spawn().unwrap());
        let begun = Instant::now();
        loop {
            let workers = self.remora(&["workers", "--output", "json"]);
            let seen = serde_json::from_slice::<serde_json::Value>(&workers.stdout).unwrap_or_default();
            if seen.as_array().is_some_and(|workers| !workers.is_empty()) {
                return running;
            }
            let log = std::fs::read_to_string(self.place.join("server.log")).unwrap();
            assert!(begun.elapsed() < PATIENCE, "no worker came: {}{log}", said(&workers));
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// What it says and its exit code, for every way to begin.
    fn refused(&self, parts: &[&str]) {
        for words in [&["worker"][..], &["server", "--listen", "none"], &["list"], &["submit", "--", "true"]]
        {
            let output = self.remora(words);
            assert_eq!(output.status.code(), Some(2), "{words:?}: {}", said(&output));
            for part in parts {
                assert!(said(&output).contains(part), "{words:?}: {part}: {}", said(&output));
            }
        }
    }
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&[output.stdout.as_slice(), &output.stderr].concat()).into_owned()
}

/// A process of this test's own.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let pid = rustix::process::Pid::from_child(&self.0);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
        self.0.wait().unwrap();
    }
}

#[test]
fn another_target_than_the_one_that_the_others_read_is_refused_and_nothing_is_written_there() {
    let place = tempfile::tempdir().unwrap();
    let right = Named::new(place.path(), "one_target", &testbed::redis::shared());
    let other = place.path().join("elsewhere");
    let wrong = Named { target: format!("file:{}", other.display()), ..right.clone() };
    assert!(wrong.remora(&["list"]).status.success(), "nobody has published yet");
    drop(right.serve());
    let marker =
        std::fs::read_to_string(place.path().join(&right.target[5..]).join("remora-target")).unwrap();
    wrong.refused(&[
        &wrong.target,
        "is not the target of this installation",
        "it has no marker",
        marker.trim(),
    ]);
    assert!(!other.exists(), "looking makes no marker");
    let doctor = wrong.remora(&["doctor"]);
    assert_eq!(doctor.status.code(), Some(1));
    assert!(said(&doctor).contains("is not the target of this installation"), "{}", said(&doctor));

    // Another one's marker is named, and a target that was moved with its marker is the same one.
    std::fs::create_dir(&other).unwrap();
    let strange = protocol::TargetId(7).to_string();
    std::fs::write(other.join("remora-target"), &strange).unwrap();
    wrong.refused(&[&format!("its marker is {strange}")]);
    std::fs::write(other.join("remora-target"), &marker).unwrap();
    assert!(wrong.remora(&["list"]).status.success());
}

#[test]
fn two_installations_in_one_target_are_told_apart_for_each_would_sweep_the_others_results() {
    let place = tempfile::tempdir().unwrap();
    let redis = testbed::redis::shared();
    let (first, second) =
        (Named::new(place.path(), "first_there", &redis), Named::new(place.path(), "second_there", &redis));
    drop(first.serve());
    let confused = Named { target: first.target.clone(), ..second.clone() };
    confused.refused(&["is not the target of this installation", "its marker is tgt_", "of its own"]);
    let doctor = confused.remora(&["doctor"]);
    assert_eq!(doctor.status.code(), Some(1));
    assert!(said(&doctor).contains("is not the target of this installation"), "{}", said(&doctor));
    drop(second.serve());
}

fn strangers_in_one_pool(coordination: &str, name: &str) {
    let place = tempfile::tempdir().unwrap();
    let first = Named::new(place.path(), &format!("first_{name}"), coordination);
    let second = Named::new(place.path(), &format!("second_{name}"), coordination);
    let confused = Named { coordination: first.coordination.clone(), ..second.clone() };
    let running = first.serve();
    let pool = format!("first_{name}_{}", std::process::id());
    confused.refused(&["belongs to another installation", &pool, "ins_", "lose-coordination"]);
    let doctor = confused.remora(&["doctor"]);
    assert_eq!(doctor.status.code(), Some(1));
    assert!(said(&doctor).contains("belongs to another installation"), "{}", said(&doctor));
    let doctor = first.remora(&["doctor", "--output", "json"]);
    assert!(!said(&doctor).contains("belongs to another"), "{}", said(&doctor));
    drop(second.serve());
    drop(running);
    // The first one is gone for good, and its pool is given up.
    let lost = confused.remora(&["dev", "lose-coordination"]);
    assert!(lost.status.success(), "{}", said(&lost));
    drop(confused.serve());
}

#[test]
fn two_installations_in_one_pool_of_redis_are_told_apart() {
    strangers_in_one_pool(&testbed::redis::shared(), "redis");
}

#[test]
fn two_installations_in_one_pool_of_postgresql_are_told_apart() {
    let url = format!("{}?sslmode=disable&schema=pools_{}", testbed::postgres::shared(), std::process::id());
    strangers_in_one_pool(&url, "postgres");
}

#[test]
fn a_data_folder_whose_target_is_another_one_is_refused_with_a_way_out() {
    let place = tempfile::tempdir().unwrap();
    let run = || {
        let mut command = Command::new(REMORA);
        command.args(["run", "--", "true"]).current_dir(place.path()).env_remove("REMORA_DIR");
        command.stdin(Stdio::null()).output().unwrap()
    };
    assert!(run().status.success());
    let marker = place.path().join(".remora/target/remora-target");
    let known = std::fs::read_to_string(&marker).unwrap();
    std::fs::remove_file(&marker).unwrap();
    let refused = run();
    assert_eq!(refused.status.code(), Some(1), "{}", said(&refused));
    for part in ["cannot publish to", "it has no marker", known.trim(), "remora-target"] {
        assert!(said(&refused).contains(part), "{part}: {}", said(&refused));
    }
    std::fs::write(&marker, known.trim()).unwrap();
    assert!(run().status.success());
}
