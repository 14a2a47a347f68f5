//! Queues: what is in them, and whether anything is started from them.

use std::sync::Arc;

use api::v1::{PoolChange, Queue};
use askama::Template;
use axum::Extension;
use axum::extract::State;
use axum::http::StatusCode;
use protocol::Phase;
use web::{About, Caller};

use crate::Desk;
use crate::answer::{Frame, Reply, go, page};
use crate::form::{Fields, query, wrong};
use crate::view::words::{count, phase_words};

/// Queues that one page shows.
const MOST: usize = 500;

struct Cell {
    phase: Phase,
    words: &'static str,
    count: String,
    is_zero: bool,
    /// The query of these jobs.
    jobs: String,
}

struct QueueRow {
    name: String,
    paused: bool,
    cells: Vec<Cell>,
}

#[derive(Template)]
#[template(path = "queues.html")]
struct QueuesPage {
    frame: Frame,
    phases: Vec<&'static str>,
    rows: Vec<QueueRow>,
    more: usize,
}

fn row(queue: &Queue) -> QueueRow {
    let cells = Phase::ALL.into_iter().map(|phase| {
        let number = queue.jobs.get(&phase).copied().unwrap_or(0);
        Cell {
            phase,
            words: phase_words(phase),
            count: count(number),
            is_zero: number == 0,
            jobs: query([("queue", queue.queue.as_str()), ("phase", phase.name())]),
        }
    });
    QueueRow { name: queue.queue.clone(), paused: queue.paused, cells: cells.collect() }
}

pub(crate) async fn queues(State(desk): State<Arc<Desk>>, Extension(caller): Extension<Caller>) -> Reply {
    let queues = desk.api.queues().await?;
    let shown = QueuesPage {
        frame: Frame::of(&caller, "queues", "Queues").live("/v1/events"),
        phases: Phase::ALL.into_iter().map(phase_words).collect(),
        rows: queues.iter().take(MOST).map(row).collect(),
        more: queues.len().saturating_sub(MOST),
    };
    Ok(page(StatusCode::OK, &shown))
}

async fn change(desk: &Desk, form: &str, change: impl FnOnce(String) -> PoolChange) -> Reply {
    let queue = Fields::read(form).text("queue").ok_or_else(|| wrong("queue", "", "the name of a queue"))?;
    desk.api.configure(&change(queue.clone())).await?;
    let mut response = go("/queues");
    response.extensions_mut().insert(About(queue));
    Ok(response)
}

pub(crate) async fn pause(State(desk): State<Arc<Desk>>, form: String) -> Reply {
    change(&desk, &form, |queue| PoolChange { pause: Some(queue), ..PoolChange::default() }).await
}

pub(crate) async fn resume(State(desk): State<Arc<Desk>>, form: String) -> Reply {
    change(&desk, &form, |queue| PoolChange { resume: Some(queue), ..PoolChange::default() }).await
}
