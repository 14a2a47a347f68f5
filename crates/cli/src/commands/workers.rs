//! `remora workers`.

use coordination::WorkerView;
use serde_json::json;

use crate::access::Site;
use crate::failure::{Failure, code};
use crate::parse::show_ms;
use crate::printer::Printer;

pub(crate) async fn run(site: &Site, printer: &Printer) -> Result<u8, Failure> {
    let client = site.client().await?;
    let workers = client.workers().await?;
    if printer.is_json() {
        let workers: Vec<_> = workers.iter().map(value).collect();
        printer.json(&workers)?;
        return Ok(code::OK);
    }
    if workers.is_empty() {
        printer.remark("no workers");
        return Ok(code::OK);
    }
    let rows = workers
        .iter()
        .map(|worker| {
            let registration = &worker.registration;
            vec![
                registration.name.clone(),
                registration.host.clone(),
                registration.pid.to_string(),
                registration.worker.to_string(),
                format!("{}/{}", worker.attempts.len(), registration.slots),
                if registration.draining { "draining".to_owned() } else { "up".to_owned() },
                show_ms(worker.seen_ms_ago),
                worker.attempts.iter().map(|held| held.job.to_string()).collect::<Vec<_>>().join(" "),
            ]
        })
        .collect();
    printer.table(
        &["worker", "host", "pid", "incarnation", "busy", "state", "seen", "jobs"],
        rows,
        &[2, 4, 6],
    );
    Ok(code::OK)
}

fn value(worker: &WorkerView) -> serde_json::Value {
    let registration = &worker.registration;
    let attempts: Vec<_> = worker
        .attempts
        .iter()
        .map(|held| {
            json!({
                "job": held.job,
                "attempt": held.token,
                "attempt_id": held.attempt,
                "lease_age_ms": held.age_ms,
            })
        })
        .collect();
    json!({
        "name": registration.name,
        "pid": registration.pid,
        "host": registration.host,
        "incarnation": registration.worker,
        "slots": registration.slots,
        "queues": registration.queues,
        "kinds": registration.kinds,
        "draining": registration.draining,
        "seen_ms_ago": worker.seen_ms_ago,
        "attempts": attempts,
    })
}
