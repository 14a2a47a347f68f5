//! Tokens and the trail.

use std::sync::Arc;

use api::v1::{Code, MadeToken, Page, Token, TokenRequest, TrailRecord};
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use protocol::Fault;

use super::Places;
use crate::access::About;
use crate::access::make_token as make;
use crate::body::{Body, Document};
use crate::problem::{Refused, Reply};
use crate::query::Query;
use crate::router::Desk;

/// A fault as a problem. What it says of places stays in the log.
fn away(fault: &Fault) -> Refused {
    let code = match fault.kind {
        protocol::FaultKind::Unreachable => Code::Unavailable,
        protocol::FaultKind::Ambiguous => Code::Ambiguous,
        protocol::FaultKind::Corrupt => Code::Damaged,
    };
    tracing::warn!(%fault, "the durable store gave no answer");
    Refused::new(code, "the durable store gave no answer")
}

/// Tokens: what is known of them, never they themselves.
#[utoipa::path(
    get, path = "/v1/tokens", tag = "access",
    responses((status = 200, description = "The tokens in the order of their making.", body = Vec<Token>)),
    security(("token" = ["admin"])),
)]
pub(crate) async fn tokens(State(desk): State<Arc<Desk>>, query: Query) -> Reply<Response> {
    query.end()?;
    let known = desk.gate.store.tokens().await.map_err(|fault| away(&fault))?;
    Ok(Document(known.tokens.into_iter().map(Token::from).collect::<Vec<_>>()).into_response())
}

/// Makes a token. It is shown in this answer and never again.
#[utoipa::path(
    post, path = "/v1/tokens", tag = "access",
    request_body(content = TokenRequest, content_type = "application/json"),
    responses((status = 201, description = "The token.", body = MadeToken)),
    security(("token" = ["admin"])),
)]
pub(crate) async fn make_token(
    State(desk): State<Arc<Desk>>,
    query: Query,
    Body(asked): Body<TokenRequest>,
) -> Reply<Response> {
    query.end()?;
    let token = make(desk.gate.store.as_ref(), asked).await.map_err(|fault| away(&fault))??;
    desk.gate.known.refresh().await;
    let about = About(format!("token {} ({})", token.about.id, token.about.name));
    let mut response = (StatusCode::CREATED, Document(token)).into_response();
    response.extensions_mut().insert(about);
    Ok(response)
}

/// Revokes a token; its sessions and streams end within seconds.
#[utoipa::path(
    delete, path = "/v1/tokens/{id}", tag = "access",
    params(("id" = String, Path, description = "The token's id.", pattern = "^[0-9a-hjkmnp-tv-z]{16}$")),
    responses((status = 204, description = "It is good for nothing from now on.")),
    security(("token" = ["admin"])),
)]
pub(crate) async fn revoke_token(
    State(desk): State<Arc<Desk>>,
    places: Places,
    query: Query,
) -> Reply<StatusCode> {
    query.end()?;
    let id = places.text("id");
    let revoked = desk.gate.store.revoke_token(id).await.map_err(|fault| away(&fault))?;
    desk.gate.known.refresh().await;
    if revoked {
        return Ok(StatusCode::NO_CONTENT);
    }
    let shown: String = id.chars().take(64).collect();
    Err(api::Problem::not_found(format_args!("token `{shown}`")).into())
}

/// Who asked for which change, and what came of it; newest first.
#[utoipa::path(
    get, path = "/v1/trail", tag = "access",
    params(
        ("cursor" = Option<String>, Query, description = "`next` of the page before.", pattern = "^(0|[1-9][0-9]{0,18})$"),
        ("limit" = Option<u32>, Query, description = "At most so many; 50 unless said.", minimum = 1, maximum = 1000),
    ),
    responses((status = 200, description = "A page of the trail.", body = Page<TrailRecord>)),
    security(("token" = ["admin"])),
)]
pub(crate) async fn trail(State(desk): State<Arc<Desk>>, mut query: Query) -> Reply<Response> {
    let before = query.one::<u64>("cursor")?;
    let limit = query.number("limit", (1, 1_000))?.unwrap_or(50);
    query.end()?;
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let mut rows = desk.gate.store.trail(before, limit + 1).await.map_err(|fault| away(&fault))?;
    let more = rows.len() > limit;
    rows.truncate(limit);
    let next = rows.last().filter(|_| more).map(|row| row.number.to_string());
    Ok(Document(Page { items: rows.into_iter().map(TrailRecord::from).collect(), next }).into_response())
}
