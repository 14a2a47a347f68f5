//! Where a token becomes a session. The form is answered by `web`.

use askama::Template;
use axum::extract::RawQuery;
use axum::http::StatusCode;
use axum::response::Response;

use crate::answer::{Frame, page};
use crate::form::Fields;

#[derive(Template)]
#[template(path = "login.html")]
struct LoginPage {
    frame: Frame,
    failed: bool,
    next: String,
}

pub(crate) async fn login(RawQuery(query): RawQuery) -> Response {
    let fields = Fields::read(query.as_deref().unwrap_or_default());
    let failed = fields.one("failed").is_some();
    let next = fields.text("next").unwrap_or_else(|| "/".to_owned());
    page(StatusCode::OK, &LoginPage { frame: Frame::nobodys("login", "Log in"), failed, next })
}
