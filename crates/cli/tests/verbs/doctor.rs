//! `remora doctor` on a data folder and on rooms.
#![expect(clippy::unwrap_used, reason = "these are tests")]

use std::process::Command;

use serde_json::Value;

fn doctor(words: &[&str]) -> (i32, Vec<Value>, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_remora"))
        .args(words)
        .args(["doctor", "--output", "json"])
        .env_remove("DATABASE_URL")
        .env_remove("REDIS_URL")
        .output()
        .unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    let findings = serde_json::from_str(&said).unwrap_or_default();
    (output.status.code().unwrap(), findings, String::from_utf8(output.stderr).unwrap())
}

fn level(findings: &[Value], room: &str, name: &str) -> String {
    let found = findings.iter().find(|found| found["room"] == room && found["name"] == name);
    found.map(|found| found["level"].as_str().unwrap().to_owned()).unwrap_or_default()
}

#[test]
fn a_folder_without_an_owner_is_a_warning_and_one_that_cannot_be_written_is_bad() {
    let place = tempfile::tempdir().unwrap();
    let (code, findings, _) = doctor(&["--dir", place.path().join("data").to_str().unwrap()]);
    assert_eq!((code, level(&findings, "folder", "owner").as_str()), (0, "warn"), "{findings:?}");
    assert_eq!(level(&findings, "program", "version"), "ok");
    let (code, findings, _) = doctor(&["--dir", "/proc/self/remora"]);
    assert_eq!((code, level(&findings, "folder", "write").as_str()), (1, "bad"), "{findings:?}");
}

#[test]
fn rooms_that_are_not_there_are_each_named_and_bad() {
    let port = testbed::free_port();
    let durable = format!("postgres://u:secret@127.0.0.1:{port}/d");
    let coordination = format!("redis://:secret@127.0.0.1:{port}");
    let words =
        ["--durable", &durable, "--coordination", &coordination, "--target", "file:/proc/self/target"];
    let (code, findings, err) = doctor(&words);
    assert_eq!(code, 1, "{err}");
    for room in ["durable", "coordination", "target"] {
        let bad = findings.iter().any(|found| found["room"] == room && found["level"] == "bad");
        assert!(bad, "{room}: {findings:?}");
    }
    assert!(!format!("{findings:?}{err}").contains("secret"), "{findings:?}");
}

#[test]
fn rooms_are_named_together_and_by_schemes_that_are_known() {
    let one = doctor(&["--durable", "postgres://h/d"]);
    assert_eq!(one.0, 2);
    assert!(one.2.contains("--coordination is missing"), "{}", one.2);
}
