//! `remora workers`.

use api::v1::Worker;

use crate::access::{Site, problem};
use crate::failure::{Failure, code};
use crate::parse::show_ms;
use crate::printer::Printer;

pub(crate) async fn run(site: &Site, printer: &Printer) -> Result<u8, Failure> {
    let workers = site.api().await?.workers().await.map_err(problem)?;
    if printer.is_json() {
        printer.json(&workers)?;
        return Ok(code::OK);
    }
    if workers.is_empty() {
        printer.remark("no workers");
        return Ok(code::OK);
    }
    let row = |worker: &Worker| {
        vec![
            worker.name.clone(),
            worker.host.clone(),
            worker.pid.to_string(),
            worker.incarnation.to_string(),
            format!("{}/{}", worker.attempts.len(), worker.slots),
            if worker.draining { "draining".to_owned() } else { "up".to_owned() },
            show_ms(worker.seen_ms_ago),
            worker.attempts.iter().map(|held| held.job.to_string()).collect::<Vec<_>>().join(" "),
        ]
    };
    printer.table(
        &["worker", "host", "pid", "incarnation", "busy", "state", "seen", "jobs"],
        workers.iter().map(row).collect(),
        &[2, 4, 6],
    );
    Ok(code::OK)
}
