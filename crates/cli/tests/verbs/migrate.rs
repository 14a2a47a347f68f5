//! `remora migrate` against a real server.
#![cfg(feature = "fleet")]
#![expect(clippy::unwrap_used, reason = "these are tests")]

use std::process::{Command, Output};

fn remora(words: &[&str], variable: Option<&str>) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_remora"));
    command.env_remove("DATABASE_URL").env_remove("REMORA_DURABLE").args(words);
    command.envs(variable.map(|url| ("REMORA_DURABLE", url))).output().unwrap()
}

fn out(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn error(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_schema_is_made_once_looked_at_and_removed_when_that_is_meant() {
    let url = format!("{}?sslmode=disable&schema=cli_{}", testbed::postgres::shared(), std::process::id());
    let status = remora(&["migrate", "status", "--durable", &url], None);
    assert!(out(&status).contains("there is no schema; `remora migrate up` makes it"), "{}", error(&status));
    assert_eq!(status.status.code(), Some(1));
    let up = remora(&["migrate", "up"], Some(&url));
    assert!(up.status.success() && out(&up).contains("applied first"), "{}", error(&up));
    let again = remora(&["migrate", "up", "--output", "json"], Some(&url));
    assert!(out(&again).contains("\"applied\":[]"), "{}", out(&again));
    let status = remora(&["migrate", "status"], Some(&url));
    assert!(status.status.success() && out(&status).contains("up to date"), "{}", error(&status));
    let down = remora(&["migrate", "down"], Some(&url));
    assert_eq!(down.status.code(), Some(2));
    assert!(error(&down).contains("say --yes"), "{}", error(&down));
    let down = remora(&["migrate", "down", "--yes"], Some(&url));
    assert!(down.status.success(), "{}", error(&down));
}

#[test]
fn the_sql_can_be_printed_without_a_server_and_what_is_missing_or_wrong_is_named() {
    let sql = remora(&["migrate", "--sql"], None);
    assert!(out(&sql).contains("CREATE TABLE \"remora\".job ("), "{}", error(&sql));
    let named = remora(&["migrate", "--sql", "--durable", "postgres://h/d?schema=s%20t"], None);
    assert!(out(&named).contains("CREATE TABLE \"s t\".job ("), "{}", error(&named));
    let nowhere = remora(&["migrate", "up"], None);
    assert_eq!(nowhere.status.code(), Some(2));
    assert!(error(&nowhere).contains("REMORA_DURABLE or DATABASE_URL"), "{}", error(&nowhere));
    let wrong = remora(&["migrate", "up", "--durable", "postgres://u:s3cret@h/d?sslmode=sure"], None);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(
        error(&wrong).contains("sslmode is \"sure\"") && !error(&wrong).contains("s3cret"),
        "{}",
        error(&wrong)
    );
    let help = remora(&["migrate", "up", "--help"], Some("postgres://u:s3cret@h/d"));
    assert!(!out(&help).contains("s3cret"));
}
