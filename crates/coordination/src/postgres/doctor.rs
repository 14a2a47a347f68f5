//! What a person should know of the server: what weakens the room, and what makes it slow.
//!
//! Promises: each finding is one sentence that says what to do; looks only. Does not decide.

use std::time::{Duration, Instant};

use pg::address::Statements as Sending;
use pg::{Row, get};
use protocol::{Finding, Level};

use super::params::Params;
use super::reply::{Read, must};
use super::{PostgresRoom, millis};
use crate::remote::finding::{finding, told};

/// A round trip longer than this is told.
const SLOW: Duration = Duration::from_millis(20);
/// A transaction open for longer than this is told.
const LONG_S: i64 = 60;
/// Tables larger than this are told.
const LARGE_MIB: i64 = 256;

/// Looks at the room's server.
pub async fn doctor(room: &PostgresRoom) -> Vec<Finding> {
    let desk = &room.desk;
    let look = || async {
        let params = Params::new().text(Some(room.address.server.schema.clone()));
        desk.sessions.read("examine the server", (&desk.statements.doctor, params), seen).await
    };
    // The first call may have to connect; it is not the one that is timed.
    let mut findings = match look().await {
        Ok(findings) => findings,
        Err(fault) => return vec![finding("server", Level::Bad, told(&fault))],
    };
    let began = Instant::now();
    drop(look().await);
    let trip = began.elapsed();
    findings.push(pooling(room));
    findings.push(wakes(room));
    let level = if trip > SLOW { Level::Warn } else { Level::Ok };
    findings.push(finding("latency", level, format!("the server answers within {} ms", millis(trip) + 1)));
    findings
}

fn seen(rows: &[Row]) -> Read<Vec<Finding>> {
    let row = must(rows.first(), "row")?;
    let version: &str = get(row, "server")?;
    let role = if get(row, "in_recovery")? {
        finding("role", Level::Bad, "a standby: the url must lead to the primary")
    } else {
        finding("role", Level::Ok, "primary")
    };
    let autovacuum = match get(row, "autovacuum")? {
        "on" => finding("autovacuum", Level::Ok, "on"),
        other => {
            let what = "dead rows are never taken away, and the tables grow with every job; turn it on";
            finding("autovacuum", Level::Bad, format!("{other}: {what}"))
        }
    };
    let oldest: i64 = get(row, "oldest_s")?;
    let what = "while it is open no dead row can be taken away, and Reserve gets slower; keep long reads (dumps, reports) \
                off this server";
    let long = if oldest > LONG_S {
        finding("transactions", Level::Warn, format!("one has been open for {oldest} s: {what}"))
    } else {
        finding("transactions", Level::Ok, format!("none has been open for longer than {LONG_S} s"))
    };
    let mib = get::<i64>(row, "size")? / 1024 / 1024;
    let level = if mib > LARGE_MIB { Level::Warn } else { Level::Ok };
    Ok(vec![
        finding("server", Level::Ok, format!("PostgreSQL {version}")),
        role,
        autovacuum,
        long,
        finding("size", level, format!("tables and indexes take {mib} MiB")),
    ])
}

fn pooling(room: &PostgresRoom) -> Finding {
    match room.address.server.statements {
        Sending::Unnamed => {
            let what = "statements are sent whole each time, and wake-ups of other processes are not heard: name the \
                        server itself";
            finding("pooling", Level::Warn, format!("a pooler in transaction mode: {what}"))
        }
        _ => finding("pooling", Level::Ok, "sessions are this program's own"),
    }
}

fn wakes(room: &PostgresRoom) -> Finding {
    if *room.stands.borrow() == Some(true) {
        return finding("wakes", Level::Ok, "wake-ups of other processes are heard");
    }
    let what =
        "wake-ups of other processes are not heard: work begins when someone looks, up to a second later";
    finding("wakes", Level::Warn, what)
}
