//! Limits of the pool, and the length of a lease.

use std::sync::Arc;

use api::Problem;
use api::v1::{Code, Pool, PoolChange};
use askama::Template;
use axum::Extension;
use axum::extract::{RawQuery, State};
use axum::http::StatusCode;
use axum::response::Response;
use web::Caller;

use crate::Desk;
use crate::answer::{Frame, Reply, go, page};
use crate::form::Fields;
use crate::view::words::{count, lasting};

#[derive(Template)]
#[template(path = "limits.html")]
struct LimitsPage {
    frame: Frame,
    saved: bool,
    wrong: Option<String>,
    global: String,
    lease_ms: String,
    pool: Pool,
    in_use: Option<String>,
    lease: String,
    third: String,
}

fn shown(pool: Pool, caller: &Caller) -> LimitsPage {
    LimitsPage {
        frame: Frame::of(caller, "limits", "Limits").live("/v1/events"),
        saved: false,
        wrong: None,
        global: pool.global.to_string(),
        lease_ms: pool.lease_ms.to_string(),
        in_use: pool.in_use.map(count),
        lease: lasting(pool.lease_ms),
        third: lasting(pool.lease_ms / 3),
        pool,
    }
}

pub(crate) async fn limits(
    State(desk): State<Arc<Desk>>,
    Extension(caller): Extension<Caller>,
    RawQuery(query): RawQuery,
) -> Reply {
    let saved = Fields::read(query.as_deref().unwrap_or_default()).one("saved").is_some();
    Ok(page(StatusCode::OK, &LimitsPage { saved, ..shown(desk.api.pool().await?, &caller) }))
}

fn wanted(fields: &Fields) -> Result<PoolChange, Problem> {
    Ok(PoolChange {
        global: fields.read_as("global", "1 to 1,000,000")?,
        lease_ms: fields.read_as("lease_ms", "500 to 3,600,000 milliseconds")?,
        ..PoolChange::default()
    })
}

/// The form again, with what was entered and what is wrong with it.
async fn again(desk: &Desk, caller: &Caller, fields: &Fields, problem: Problem) -> Reply {
    let mut shown = shown(desk.api.pool().await?, caller);
    shown.global = fields.text("global").unwrap_or(shown.global);
    shown.lease_ms = fields.text("lease_ms").unwrap_or(shown.lease_ms);
    shown.wrong = Some(problem.detail.into());
    let mut response: Response = page(StatusCode::UNPROCESSABLE_ENTITY, &shown);
    response.extensions_mut().insert(web::Outcome(Code::Invalid));
    Ok(response)
}

pub(crate) async fn change(
    State(desk): State<Arc<Desk>>,
    Extension(caller): Extension<Caller>,
    form: String,
) -> Reply {
    if !caller.may(durable::Scope::Admin) {
        let text = format!("limits need the scope `admin`, which the token `{}` has not", caller.name);
        return Err(Problem::new(Code::Forbidden, text).into());
    }
    let fields = Fields::read(&form);
    let changed = match wanted(&fields) {
        Ok(change) => desk.api.configure(&change).await,
        Err(problem) => Err(problem),
    };
    match changed {
        Ok(_) => Ok(go("/limits?saved=1")),
        Err(problem) if problem.code == Code::Invalid => again(&desk, &caller, &fields, problem).await,
        Err(problem) => Err(problem.into()),
    }
}
