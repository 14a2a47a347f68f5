//! `remora queues [pause|resume QUEUE]`.

use std::collections::BTreeMap;

use durable::Configure;
use protocol::{Phase, job::check_name};
use serde_json::json;

use super::limits::configure;
use crate::access::Site;
use crate::args::{QueuesAction, QueuesArgs};
use crate::failure::{Failure, code};
use crate::printer::Printer;

pub(crate) async fn run(site: &Site, args: QueuesArgs, printer: &Printer) -> Result<u8, Failure> {
    let (change, text) = match args.action {
        None => return list(site, printer).await,
        Some(QueuesAction::Pause { queue }) => {
            let text = format!("{queue} is paused: nothing of it starts; what runs goes on");
            (Configure { pause: Some(queue), ..Configure::default() }, text)
        }
        Some(QueuesAction::Resume { queue }) => {
            let text = format!("{queue} is resumed");
            (Configure { resume: Some(queue), ..Configure::default() }, text)
        }
    };
    for queue in change.pause.iter().chain(&change.resume) {
        check_name("queue", queue).map_err(|violation| Failure::from(violation).with_code(code::USAGE))?;
    }
    let pool = configure(site, &change).await?;
    if printer.is_json() {
        printer.json(&json!({ "paused": pool.paused }))?;
    }
    printer.remark(&text);
    Ok(code::OK)
}

async fn list(site: &Site, printer: &Printer) -> Result<u8, Failure> {
    let readers = site.readers().await?;
    let pool = readers.reads().pool().await?;
    let mut queues: BTreeMap<String, BTreeMap<Phase, u64>> = BTreeMap::new();
    for count in readers.listing().counts().await? {
        queues.entry(count.queue).or_default().insert(count.phase, count.jobs);
    }
    for queue in &pool.paused {
        queues.entry(queue.clone()).or_default();
    }
    if printer.is_json() {
        let queues: Vec<_> = queues
            .iter()
            .map(|(queue, counts)| json!({ "queue": queue, "paused": pool.paused.contains(queue), "jobs": counts }))
            .collect();
        printer.json(&queues)?;
        return Ok(code::OK);
    }
    if queues.is_empty() {
        printer.remark("no queues: no job was submitted yet");
        return Ok(code::OK);
    }
    let mut head = vec!["queue", "state"];
    head.extend(Phase::ALL.iter().map(|phase| phase.name()));
    let rows = queues
        .iter()
        .map(|(queue, counts)| {
            let state = if pool.paused.contains(queue) { "paused" } else { "open" };
            let mut row = vec![queue.clone(), state.to_owned()];
            row.extend(Phase::ALL.iter().map(|phase| counts.get(phase).copied().unwrap_or(0).to_string()));
            row
        })
        .collect();
    printer.table(&head, rows, &[2, 3, 4, 5, 6, 7, 8]);
    Ok(code::OK)
}
