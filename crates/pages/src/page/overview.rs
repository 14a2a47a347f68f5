//! What an operator looks at first.

use std::sync::Arc;

use api::v1::{Overview, Why};
use api::{Api, Kept, Problem};
use askama::Template;
use axum::Extension;
use axum::extract::State;
use axum::http::StatusCode;
use protocol::Phase;
use runtime::SystemClock;
use web::Caller;

use crate::Desk;
use crate::answer::{Frame, Reply, page};
use crate::view::job::{Row, row};
use crate::view::rates::{Rates, rates};
use crate::view::words::{count, many, phase_words, thousandths};

/// What was read at one moment.
pub(crate) struct Seen {
    overview: Overview,
    /// Why the job that waits longest does.
    why: Option<Why>,
}

/// What came of a reading.
type Reading = Result<Arc<Seen>, Problem>;

/// The reading that all share who look.
pub(crate) type Shared = Kept<Arc<Seen>, Problem, 20>;

async fn look(api: &dyn Api) -> Reading {
    let overview = api.overview().await?;
    let why = match &overview.oldest_waiting {
        // The job may be gone by now, and then there is nothing to say of it.
        Some(job) => api.why(job.job).await.ok(),
        None => None,
    };
    Ok(Arc::new(Seen { overview, why }))
}

struct Tile {
    phase: Phase,
    words: &'static str,
    count: String,
    is_zero: bool,
}

struct Permits {
    global: String,
    in_use: Option<String>,
    leases: u64,
    reservations: u64,
    unaccounted: u64,
    text: String,
}

#[derive(Template)]
#[template(path = "overview.html")]
struct OverviewPage {
    frame: Frame,
    is_empty: bool,
    tiles: Vec<Tile>,
    total: String,
    rates: Rates,
    permits: Permits,
    rebuilding: Option<u64>,
    paused: Vec<String>,
    away: Vec<String>,
    oldest: Option<Row>,
    why: Option<String>,
    workers: Option<String>,
    no_workers: bool,
    slots: String,
    failures: Vec<Row>,
}

fn permits(overview: &Overview) -> Permits {
    let pool = &overview.pool;
    let part = |number: Option<u64>| thousandths(number.unwrap_or(0), pool.global.into());
    let said = |number: Option<u64>, one, more| {
        number.filter(|number| *number > 0).map(|number| many(number, one, more))
    };
    let words: Vec<_> = [
        said(pool.leases, "lease", "leases"),
        said(pool.reservations, "reservation", "reservations"),
        said(pool.unaccounted, "not accounted for yet", "not accounted for yet"),
    ]
    .into_iter()
    .flatten()
    .collect();
    Permits {
        global: count(pool.global.into()),
        in_use: pool.in_use.map(count),
        leases: part(pool.leases),
        reservations: part(pool.reservations),
        unaccounted: part(pool.unaccounted),
        text: if words.is_empty() { "all free".to_owned() } else { words.join(", ") },
    }
}

fn shown(seen: &Seen, frame: Frame) -> OverviewPage {
    let overview = &seen.overview;
    let now = overview.at;
    let total: u64 = overview.jobs.values().sum();
    let tiles = Phase::ALL.into_iter().map(|phase| {
        let number = overview.jobs.get(&phase).copied().unwrap_or(0);
        Tile { phase, words: phase_words(phase), count: count(number), is_zero: number == 0 }
    });
    OverviewPage {
        frame,
        is_empty: total == 0,
        tiles: tiles.collect(),
        total: many(total, "job", "jobs"),
        rates: rates(&overview.ends, now),
        permits: permits(overview),
        rebuilding: (!overview.pool.open).then_some(overview.pool.epoch),
        paused: overview.pool.paused.clone(),
        away: overview.away.clone(),
        oldest: overview.oldest_waiting.as_ref().map(|job| row(job, now)),
        why: seen.why.as_ref().map(|why| why.summary.clone()),
        workers: overview.workers.map(count),
        no_workers: overview.workers == Some(0),
        slots: many(overview.slots.unwrap_or(0), "slot", "slots"),
        failures: overview.last_failures.iter().map(|job| row(job, now)).collect(),
    }
}

pub(crate) async fn overview(State(desk): State<Arc<Desk>>, Extension(caller): Extension<Caller>) -> Reply {
    let seen = desk.overview.get(&SystemClock, look(&*desk.api)).await?;
    let frame = Frame::of(&caller, "", "Overview").live("/v1/events");
    Ok(page(StatusCode::OK, &shown(&seen, frame)))
}
