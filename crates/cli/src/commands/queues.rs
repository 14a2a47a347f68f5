//! `remora queues [pause|resume QUEUE]`.

use api::v1::PoolChange;
use protocol::{Phase, job::check_name};

use crate::access::{Site, problem};
use crate::args::{QueuesAction, QueuesArgs};
use crate::failure::{Failure, code};
use crate::printer::Printer;

pub(crate) async fn run(site: &Site, args: QueuesArgs, printer: &Printer) -> Result<u8, Failure> {
    let (change, text) = match args.action {
        None => return list(site, printer).await,
        Some(QueuesAction::Pause { queue }) => {
            let text = format!("{queue} is paused: nothing of it starts; what runs goes on");
            (PoolChange { pause: Some(queue), ..PoolChange::default() }, text)
        }
        Some(QueuesAction::Resume { queue }) => {
            let text = format!("{queue} is resumed");
            (PoolChange { resume: Some(queue), ..PoolChange::default() }, text)
        }
    };
    for queue in change.pause.iter().chain(&change.resume) {
        check_name("queue", queue).map_err(|violation| Failure::from(violation).with_code(code::USAGE))?;
    }
    let pool = site.api_to_change(true).await?.configure(&change).await.map_err(problem)?;
    if printer.is_json() {
        printer.json(&pool)?;
    }
    printer.remark(&text);
    Ok(code::OK)
}

async fn list(site: &Site, printer: &Printer) -> Result<u8, Failure> {
    let queues = site.api().await?.queues().await.map_err(problem)?;
    if printer.is_json() {
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
        .map(|queue| {
            let state = if queue.paused { "paused" } else { "open" };
            let mut row = vec![queue.queue.clone(), state.to_owned()];
            let counts =
                Phase::ALL.iter().map(|phase| queue.jobs.get(phase).copied().unwrap_or(0).to_string());
            row.extend(counts);
            row
        })
        .collect();
    printer.table(&head, rows, &[2, 3, 4, 5, 6, 7, 8]);
    Ok(code::OK)
}
