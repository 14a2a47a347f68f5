//! The private PostgreSQL server: it starts, it is killed and comes back, it goes with its value.
#![expect(clippy::unwrap_used, reason = "these are tests")]

use std::process::Command;

use remora_testbed::{Postgres, postgres};

fn asks(server: &Postgres, sql: &str) -> String {
    let psql = postgres::programs().unwrap().join("psql");
    let output = Command::new(psql).args(["-X", "-A", "-t", "-c", sql, &server.url()]).output().unwrap();
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

#[test]
fn a_server_starts_is_killed_comes_back_with_what_it_held_and_is_gone_afterwards() {
    let mut server = Postgres::start();
    assert_eq!(asks(&server, "CREATE TABLE t (a int); SHOW fsync"), "CREATE TABLE\noff");
    server.start_again();
    assert_eq!(asks(&server, "TABLE t; SHOW port"), server.port().to_string());
    let (folder, pid) = (server.folder().to_owned(), server.server().pid());
    drop(server);
    assert!(!folder.exists());
    assert!(!std::path::Path::new(&format!("/proc/{pid}")).exists());
}
