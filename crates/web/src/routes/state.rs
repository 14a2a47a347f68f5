//! How the server is, and what is written about it.

use std::sync::Arc;

use api::v1::{Code, Readiness};
use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

use super::Places;
use crate::body::Document;
use crate::problem::Reply;
use crate::query::Query;
use crate::router::Desk;

const TEXT: [(header::HeaderName, HeaderValue); 1] =
    [(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"))];

/// This document.
#[utoipa::path(
    get, path = "/v1/openapi.json", tag = "state",
    responses((status = 200, description = "An OpenAPI 3.1 document.", body = serde_json::Value, content_type = "application/json")),
    security(("token" = ["read"])),
)]
pub(crate) async fn openapi(State(desk): State<Arc<Desk>>, query: Query) -> Reply<Response> {
    query.end()?;
    let kind = [(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))];
    Ok((kind, desk.document.clone()).into_response())
}

/// Whether the process answers.
#[utoipa::path(
    get, path = "/healthz", tag = "state",
    responses((status = 200, description = "It does.", body = String, content_type = "text/plain")),
    security(()),
)]
pub(crate) async fn healthz() -> Response {
    (TEXT, "ok\n").into_response()
}

/// Whether it can claim, renew and publish now, by trying.
#[utoipa::path(
    get, path = "/readyz", tag = "state",
    responses(
        (status = 200, description = "It can.", body = Readiness),
        (status = 503, description = "It cannot, and why.", body = Readiness),
    ),
    security(()),
)]
pub(crate) async fn readyz(State(desk): State<Arc<Desk>>) -> Response {
    let readiness = desk.api.readiness().await;
    let status = if readiness.ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    (status, Document(readiness)).into_response()
}

/// What a problem's code means and what to do about it.
#[utoipa::path(
    get, path = "/errors/{code}", tag = "state",
    params(("code" = Code, Path, description = "The code.")),
    responses((status = 200, description = "Its page.", body = String, content_type = "text/plain")),
    security(("token" = ["read"])),
)]
pub(crate) async fn error_page(places: Places, query: Query) -> Reply<Response> {
    query.end()?;
    let name = places.text("code");
    let shown: String = name.chars().take(64).collect();
    let unknown = || api::Problem::not_found(format_args!("code `{shown}`"));
    let code = Code::ALL.into_iter().find(|code| code.name() == name).ok_or_else(unknown)?;
    Ok((TEXT, page(code)).into_response())
}

macro_rules! page {
    ($name:literal) => {
        include_str!(concat!("../../../../docs/errors/", $name, ".md"))
    };
}

fn page(code: Code) -> &'static str {
    match code {
        Code::Invalid => page!("invalid"),
        Code::BadBody => page!("bad_body"),
        Code::TooLarge => page!("too_large"),
        Code::NotFound => page!("not_found"),
        Code::Refused => page!("refused"),
        Code::KeyReused => page!("key_reused"),
        Code::Unauthenticated => page!("unauthenticated"),
        Code::Forbidden => page!("forbidden"),
        Code::TooMany => page!("too_many"),
        Code::Unavailable => page!("unavailable"),
        Code::Ambiguous => page!("ambiguous"),
        Code::Unsupported => page!("unsupported"),
        Code::Damaged => page!("damaged"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_a_page_of_its_own() {
        for code in Code::ALL {
            assert!(page(code).starts_with(&format!("# `{}`", code.name())), "{}", code.name());
        }
    }
}
