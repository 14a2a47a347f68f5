//! `remora doctor`: one line for everything that was looked at; exit code 1 if something does not work.

use std::path::Path;

use protocol::{Finding, Level};
use serde_json::json;

use crate::access::{Site, problem};
use crate::failure::{Failure, code};
use crate::printer::Printer;

type Examined = Vec<(&'static str, Vec<Finding>)>;

pub(crate) async fn run(site: &Site, printer: &Printer) -> Result<u8, Failure> {
    if site.is_remote() {
        return of_a_server(site, printer).await;
    }
    let mut examined: Examined = vec![("program", vec![program()])];
    match &site.rooms {
        Some(rooms) => examined.extend(rooms.doctor().await),
        None => examined.push(("folder", folder(site).await)),
    }
    if let Some(workers) = workers(site).await {
        examined.push(("workers", vec![workers]));
    }
    show(&examined, printer)?;
    let bad = examined.iter().flat_map(|(_, findings)| findings).any(|found| found.level == Level::Bad);
    Ok(if bad { code::FAILED } else { code::OK })
}

/// What a server finds in its rooms, from where it runs.
async fn of_a_server(site: &Site, printer: &Printer) -> Result<u8, Failure> {
    let reports = site.api().await?.doctor().await.map_err(problem)?;
    let found =
        || reports.iter().flat_map(|report| report.findings.iter().map(move |found| (&report.room, found)));
    let bad = found().any(|(_, found)| found.level == "bad");
    if printer.is_json() {
        let findings: Vec<_> = found()
            .map(|(room, found)| {
                json!({ "room": room, "name": found.name, "level": found.level, "text": found.text })
            })
            .collect();
        printer.json(&findings)?;
    } else {
        found().for_each(|(room, found)| line((&found.level, room), &found.name, &found.text, printer));
    }
    Ok(if bad { code::FAILED } else { code::OK })
}

fn line((level, room): (&str, &str), name: &str, text: &str, printer: &Printer) {
    let colour = match level {
        "ok" => "32",
        "warn" => "33",
        _ => "31;1",
    };
    let level = printer.paint(&format!("{level:<5}"), colour);
    printer.line(&format!("{level} {room:<13} {name:<20} {text}"));
}

fn show(examined: &Examined, printer: &Printer) -> Result<(), Failure> {
    let all = || examined.iter().flat_map(|(room, findings)| findings.iter().map(move |found| (room, found)));
    if printer.is_json() {
        let findings: Vec<_> = all()
            .map(|(room, found)| {
                json!({ "room": room, "name": found.name, "level": word(found.level), "text": found.text })
            })
            .collect();
        return printer.json(&findings);
    }
    all().for_each(|(room, found)| line((word(found.level), room), found.name, &found.text, printer));
    Ok(())
}

fn word(level: Level) -> &'static str {
    match level {
        Level::Ok => "ok",
        Level::Warn => "warn",
        Level::Bad => "bad",
    }
}

fn program() -> Finding {
    let rooms = if cfg!(feature = "fleet") {
        "a data folder, PostgreSQL, Redis' protocol, S3"
    } else {
        "a data folder"
    };
    Finding::ok("version", format!("remora {}, made for {rooms}", env!("CARGO_PKG_VERSION")))
}

async fn folder(site: &Site) -> Vec<Finding> {
    let mut findings = vec![remora::writable(&site.dir)];
    findings.push(match site.connect().await {
        Ok(Some(_)) => Finding::ok("owner", "a living process owns the folder and answers"),
        Ok(None) => Finding::warn("owner", "nobody owns the folder: nothing runs; start `remora dev`"),
        Err(failure) => Finding::bad("owner", format!("the owner does not answer: {:#}", failure.error)),
    });
    findings.extend(database(&site.dir));
    findings
}

#[cfg(feature = "embedded")]
fn database(dir: &Path) -> Option<Finding> {
    let folder = remora::DataFolder::new(dir);
    if !folder.database().is_file() {
        return Some(Finding::ok("database", "there is none yet: the first owner or submit makes it"));
    }
    Some(match server::read_only(&folder) {
        Ok(_) => Finding::ok("database", format!("{} is of this version", folder.database().display())),
        Err(error) => Finding::bad("database", format!("{:#}", anyhow::Error::from(error))),
    })
}

#[cfg(not(feature = "embedded"))]
fn database(_: &Path) -> Option<Finding> {
    None
}

/// Whether anybody works; `None` where that cannot be asked, which another finding says.
async fn workers(site: &Site) -> Option<Finding> {
    let client = site.connect().await.ok()??;
    let workers = client.workers().await.ok()?;
    let slots: u64 = workers.iter().map(|worker| u64::from(worker.registration.slots)).sum();
    let draining = workers.iter().filter(|worker| worker.registration.draining).count();
    Some(if workers.is_empty() {
        Finding::warn("registered", "no worker: jobs wait until one starts")
    } else {
        Finding::ok(
            "registered",
            format!("{} with {slots} slots, {draining} of them draining", workers.len()),
        )
    })
}
