//! Workers, and whether a machine can be taken away.

use std::sync::Arc;

use api::v1::Worker;
use askama::Template;
use axum::Extension;
use axum::extract::{Path, RawQuery, State};
use axum::http::StatusCode;
use web::Caller;

use super::id;
use crate::Desk;
use crate::answer::{Frame, Reply, go, page};
use crate::form::{Fields, query};
use crate::view::words::{lasting, many, thousandths};

/// Workers that one page shows.
const MOST: usize = 500;

struct Held {
    job: String,
    attempt: u32,
    lease: String,
}

struct WorkerRow {
    name: String,
    incarnation: String,
    host: String,
    pid: u32,
    slots: u64,
    busy: u64,
    /// In thousandths of the slots.
    share: u64,
    queues: Option<String>,
    kinds: String,
    draining: bool,
    seen: String,
    held: Vec<Held>,
    /// The query of the jobs that it runs.
    jobs: String,
}

#[derive(Template)]
#[template(path = "workers.html")]
struct WorkersPage {
    frame: Frame,
    asked: Option<String>,
    summary: String,
    rows: Vec<WorkerRow>,
    more: usize,
}

fn row(worker: &Worker) -> WorkerRow {
    let incarnation = worker.incarnation.to_string();
    let held = worker.attempts.iter().map(|held| Held {
        job: held.job.to_string(),
        attempt: held.attempt,
        lease: lasting(held.lease_age_ms),
    });
    let busy = u64::try_from(worker.attempts.len()).unwrap_or(u64::MAX);
    WorkerRow {
        name: worker.name.clone(),
        host: worker.host.clone(),
        pid: worker.pid,
        slots: worker.slots.into(),
        busy,
        share: thousandths(busy, worker.slots.into()),
        queues: worker.queues.as_ref().map(|queues| queues.join(", ")),
        kinds: worker.kinds.join(", "),
        draining: worker.draining,
        seen: lasting(worker.seen_ms_ago),
        held: held.collect(),
        jobs: query([("worker", incarnation.as_str())]),
        incarnation,
    }
}

fn summary(workers: &[Worker]) -> String {
    let slots: u64 = workers.iter().map(|worker| u64::from(worker.slots)).sum();
    let busy: usize = workers.iter().map(|worker| worker.attempts.len()).sum();
    let workers = many(u64::try_from(workers.len()).unwrap_or(u64::MAX), "worker", "workers");
    format!("{workers}, {busy} of {} taken", many(slots, "slot", "slots"))
}

pub(crate) async fn workers(
    State(desk): State<Arc<Desk>>,
    Extension(caller): Extension<Caller>,
    RawQuery(query): RawQuery,
) -> Reply {
    let fields = Fields::read(query.as_deref().unwrap_or_default());
    let workers = desk.api.workers().await?;
    let asked = fields.one("drain");
    let asked = workers.iter().find(|worker| asked == Some(worker.incarnation.to_string().as_str()));
    let shown = WorkersPage {
        frame: Frame::of(&caller, "workers", "Workers").live("/v1/events"),
        asked: asked.filter(|worker| !worker.draining).map(|worker| worker.name.clone()),
        summary: summary(&workers),
        rows: workers.iter().take(MOST).map(row).collect(),
        more: workers.len().saturating_sub(MOST),
    };
    Ok(page(StatusCode::OK, &shown))
}

pub(crate) async fn drain(State(desk): State<Arc<Desk>>, Path(incarnation): Path<String>) -> Reply {
    let worker = id("worker", &incarnation)?;
    desk.api.drain(worker).await?;
    Ok(go(&format!("/workers?drain={worker}")))
}
