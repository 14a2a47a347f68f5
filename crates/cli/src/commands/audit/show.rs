//! What an audit found, for people and programs.

use model::audit::{Failure, Report};
use protocol::{Event, Outcome, Room};
use serde_json::{Value, json};

use super::Gaps;
use crate::printer::Printer;

/// Rows of a prefix that are shown: its end.
const ROWS: usize = 30;

pub(super) fn table(report: &Report, gaps: Gaps, printer: &Printer) {
    let Some(failure) = report.failures.first() else {
        let which = if report.begun_before > 0 { "every step judged" } else { "every step" };
        printer.line(&format!("{}: {which} is one of the spec's", counts(report)));
        remarks(report, gaps, printer);
        return;
    };
    match failure.job {
        Some(job) => printer.line(&format!("{job}: no order explains these events")),
        None => printer.line("the pool: no order explains these events"),
    }
    let hidden = failure.prefix.len().saturating_sub(ROWS);
    if hidden > 0 {
        printer.line(&format!("({hidden} events before them)"));
    }
    let rows = failure.prefix.iter().skip(hidden).map(|event| row(event, failure)).collect();
    printer.table(&["", "durable", "coordination", "worker", "attempt", "of"], rows, &[]);
    printer.line(&failure.to_string());
    for other in report.failures.iter().skip(1).take(10) {
        let job = other.job.map_or("the pool".to_owned(), |job| job.to_string());
        printer.line(&format!("{job}: {other}"));
    }
    if report.failures.len() > 11 {
        printer.line(&format!("and {} more", report.failures.len() - 11));
    }
    printer.remark(&format!("{}: {} not explained", counts(report), report.failures.len()));
    remarks(report, gaps, printer);
}

fn counts(report: &Report) -> String {
    let counted = [
        (report.events, "event", "events"),
        (report.jobs, "job", "jobs"),
        (report.attempts, "attempt", "attempts"),
        (report.losses, "loss", "losses"),
    ];
    counted.map(|(count, one, many)| format!("{count} {}", if count == 1 { one } else { many })).join(", ")
}

fn remarks(report: &Report, gaps: Gaps, printer: &Printer) {
    let said = [
        (gaps.cut_lines, "last lines cut off with their writers"),
        (gaps.rotated, "writers whose first files are gone"),
        (report.begun_before, "jobs not judged, begun before the trace"),
        (report.unplaced, "events of workers beyond the stores' trace"),
    ];
    for (count, text) in said.into_iter().filter(|(count, _)| *count > 0) {
        printer.remark(&format!("{text}: {count}"));
    }
}

/// One event in the column of its room.
fn row(event: &Event, failure: &Failure) -> Vec<String> {
    let what = match event.outcome {
        Outcome::Taken => event.action.spec_name().to_owned(),
        Outcome::Refused(guard) => format!("{} refused: {guard}", event.action.spec_name()),
    };
    let mut columns = [String::new(), String::new(), String::new()];
    match event.room {
        Room::Durable => columns[0] = format!("r{} {what}", event.order),
        Room::Coordination => columns[1] = format!("{}:{} {what}", event.epoch, event.order),
        Room::Target | Room::Worker | Room::World => columns[2] = what,
    }
    let [durable, coordination, worker] = columns;
    let mark = if *event == failure.event { "✗" } else { "" };
    let of = event.detail.worker.map_or_else(|| event.actor.to_string(), |worker| worker.to_string());
    let attempt = event.attempt.map(|attempt| match event.token {
        Some(token) => format!("{token} {}", ending(&attempt.to_string())),
        None => ending(&attempt.to_string()),
    });
    vec![mark.to_owned(), durable, coordination, worker, attempt.unwrap_or_default(), ending(&of)]
}

/// The end of an id, which tells it apart.
fn ending(id: &str) -> String {
    let start = id.len().saturating_sub(6);
    id.get(start..).map_or_else(|| id.to_owned(), |end| format!("…{end}"))
}

pub(super) fn json(report: &Report, gaps: Gaps) -> Value {
    let failures: Vec<Value> = report.failures.iter().map(failure).collect();
    json!({
        "explained": report.failures.is_empty(),
        "events": report.events,
        "jobs": report.jobs,
        "attempts": report.attempts,
        "losses": report.losses,
        "inferred_steps": report.inferred,
        "gaps": {
            "cut_lines": gaps.cut_lines,
            "rotated_writers": gaps.rotated,
            "jobs_begun_before": report.begun_before,
            "unplaced_worker_events": report.unplaced,
        },
        "failures": failures,
    })
}

fn failure(failure: &Failure) -> Value {
    json!({
        "job": failure.job,
        "action": failure.event.action,
        "why": failure.why.to_string(),
        "event": failure.event,
        "prefix": failure.prefix,
    })
}
