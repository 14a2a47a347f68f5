//! What an operator should know of the server: what weakens the promise, and what will not work.
//!
//! Changes nothing. Says one sentence a finding; what is fine is said, too.

use std::time::{SystemTime, UNIX_EPOCH};

use protocol::{Fault, Finding, Level, Timestamp};
use tokio::time::Instant;
use tokio_postgres::Row;

use super::PostgresRoom;
use super::column::{self, get};
use super::migrate;
use super::params::Params;
use super::trouble::Trouble;

/// Clocks further apart than this confuse people who read times; nothing rests on them.
const CLOCK_MS: u64 = 2_000;
/// A server further away than this makes every step of a job slow.
const LATENCY_MS: u128 = 50;

fn finding(name: &'static str, level: Level, text: impl Into<String>) -> Finding {
    Finding { name, level, text: text.into() }
}

fn when(bad: bool, level: Level) -> Level {
    if bad { level } else { Level::Ok }
}

/// Looks at the server that the room is on.
///
/// # Errors
/// When it does not answer.
pub async fn doctor(room: &PostgresRoom) -> Result<Vec<Finding>, Fault> {
    let doing = || room.desk.sessions.doing("examine the server");
    let params = Params::new().text(Some(room.address.schema.clone()));
    // The first call may have to connect; it is not the one that is timed.
    let sessions = &room.desk.sessions;
    sessions
        .rows(include_str!("sql/doctor.sql"), &params)
        .await
        .map_err(|trouble| trouble.of_a_read(doing()))?;
    let asked = Instant::now();
    let rows = sessions.rows(include_str!("sql/doctor.sql"), &params).await;
    let rows = rows.map_err(|trouble| trouble.of_a_read(doing()))?;
    let latency_ms = asked.elapsed().as_millis();
    let gone = || Trouble::BadRow("the schema is gone".to_owned());
    let read = |row: &Row| {
        let mut findings = durability(row)?;
        findings.extend(service(row)?);
        findings.push(pooling(room));
        findings.push(finding(
            "schema_version",
            Level::Ok,
            format!("the schema has version {}", migrate::KNOWN),
        ));
        findings.push(finding(
            "latency",
            when(latency_ms > LATENCY_MS, Level::Warn),
            format!("the server answers within {latency_ms} ms"),
        ));
        Ok(findings)
    };
    rows.first().ok_or_else(gone).and_then(read).map_err(|trouble| trouble.of_a_read(doing()))
}

/// What an answered write can be lost by.
fn durability(row: &Row) -> Result<Vec<Finding>, Trouble> {
    let commit: String = get(row, "synchronous_commit")?;
    let fsync: String = get(row, "fsync")?;
    let pages: String = get(row, "full_page_writes")?;
    Ok(vec![
        finding("server_version", Level::Ok, format!("PostgreSQL {}", get::<&str>(row, "server_version")?)),
        finding(
            "synchronous_commit",
            when(commit == "off", Level::Bad),
            match commit.as_str() {
                "off" => "synchronous_commit is off: a crash of the server loses answered writes".to_owned(),
                "local" => "synchronous_commit is local: a failover can lose answered writes".to_owned(),
                other => format!("synchronous_commit is {other}: an answered write is on the disk"),
            },
        ),
        finding(
            "fsync",
            when(fsync != "on", Level::Bad),
            format!(
                "fsync is {fsync}{}",
                if fsync == "on" { "" } else { ": a crash of the machine loses everything" }
            ),
        ),
        finding("full_page_writes", when(pages != "on", Level::Warn), format!("full_page_writes is {pages}")),
    ])
}

/// What does not work, or is slow.
fn service(row: &Row) -> Result<Vec<Finding>, Trouble> {
    let replica: bool = get(row, "in_recovery")?;
    let read_only = get::<&str>(row, "read_only")? == "on";
    let closed: i64 = get(row, "closed_tables")?;
    let may_use: bool = get(row, "may_use")?;
    let isolation: String = get(row, "isolation")?;
    let timeout: String = get(row, "statement_timeout")?;
    let apart_ms = apart_ms(column::time(row, "now")?);
    Ok(vec![
        finding(
            "replica",
            when(replica || read_only, Level::Bad),
            if replica || read_only {
                "this server takes no writes: it is a replica, or read-only"
            } else {
                "this server takes writes"
            },
        ),
        finding(
            "permissions",
            when(closed > 0 || !may_use, Level::Bad),
            if closed > 0 || !may_use {
                format!("this role cannot do the daily work: {closed} tables are closed to it")
            } else {
                "this role can do the daily work".to_owned()
            },
        ),
        finding(
            "isolation",
            when(isolation != "read committed", Level::Bad),
            format!("transactions are {isolation}"),
        ),
        finding(
            "clock",
            when(apart_ms > CLOCK_MS, Level::Warn),
            format!("the server's clock is {apart_ms} ms from this machine's; times are the server's"),
        ),
        finding(
            "statement_timeout",
            when(timeout == "0", Level::Warn),
            if timeout == "0" {
                "statement_timeout is not set: a statement that nobody waits for any more goes on".to_owned()
            } else {
                format!("a statement ends after {timeout}")
            },
        ),
    ])
}

fn pooling(room: &PostgresRoom) -> Finding {
    if room.desk.sessions.named() {
        finding("pool_mode", Level::Ok, "sessions are this program's own: statements are prepared once")
    } else {
        finding(
            "pool_mode",
            Level::Warn,
            "behind a pooler in transaction mode: statements are planned anew each time",
        )
    }
}

fn apart_ms(server: Timestamp) -> u64 {
    let here = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis());
    i64::try_from(here).map_or(u64::MAX, |here| here.abs_diff(server.0))
}
