//! Sessions of pages.

use std::sync::Arc;

use api::v1::{Code, Login};
use axum::Extension;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use percent_encoding::percent_decode_str;

use crate::access::{About, COOKIE, Peer, SESSION_LASTS, session};
use crate::body::{self, Object, is_json, parse};
use crate::problem::{Refused, Reply};
use crate::query::Query;
use crate::router::Desk;

/// Bytes of a login.
const LONGEST: usize = 4_096;

/// Begins a session: its cookie stands for the token until the session ends, or the token does.
///
/// A form is sent on to `next`, or back to `/login?failed=1`; JSON is answered with 204, or a problem.
#[utoipa::path(
    post, path = "/login", tag = "access",
    request_body(content((Login = "application/json"), (Login = "application/x-www-form-urlencoded"))),
    responses(
        (status = 204, description = "The session's cookie is set.", headers(("Set-Cookie" = String, description = "The session."))),
        (status = 303, description = "For a form: on to the page, or back to the login.", headers(("Location" = String, description = "Where to."))),
    ),
    security(()),
)]
pub(crate) async fn login(
    State(desk): State<Arc<Desk>>,
    Extension(peer): Extension<Peer>,
    query: Query,
    request: Request,
) -> Reply<Response> {
    query.end()?;
    let headers = request.headers().clone();
    let is_form = !headers.get(header::CONTENT_TYPE).is_some_and(is_json);
    let bytes = body::read(request, LONGEST).await?;
    let asked = if is_form { form(&headers, &bytes)? } else { parse::<Object<Login>>(&bytes)?.0 };
    let Some((token, name)) = desk.gate.token_of(&asked.token).await? else {
        if is_form {
            return Ok((StatusCode::SEE_OTHER, [(header::LOCATION, "/login?failed=1")]).into_response());
        }
        return Err(Refused::new(Code::Unauthenticated, "the token is not known, or has expired"));
    };
    let value = desk.gate.sessions.begin(&token);
    let secure = if desk.gate.is_encrypted(peer, &headers) { "; Secure" } else { "" };
    let lasts = SESSION_LASTS.as_secs();
    let cookie =
        format!("{COOKIE}={}; Path=/; HttpOnly; SameSite=Strict; Max-Age={lasts}{secure}", value.reveal());
    let mut response = if is_form {
        let to = asked.next.filter(|next| is_own_path(next)).unwrap_or_else(|| "/".to_owned());
        (StatusCode::SEE_OTHER, [(header::LOCATION, to)]).into_response()
    } else {
        StatusCode::NO_CONTENT.into_response()
    };
    set_cookie(&mut response, &cookie);
    response.extensions_mut().insert(About(format!("session of {name} ({token})")));
    Ok(response)
}

/// Ends the session that the cookie names. A page's form is sent on to the login.
#[utoipa::path(
    post, path = "/logout", tag = "access",
    responses(
        (status = 204, description = "There is no session any more."),
        (status = 303, description = "The same, for a form.", headers(("Location" = String, description = "Where to."))),
    ),
    security(("token" = ["read"])),
)]
pub(crate) async fn logout(
    State(desk): State<Arc<Desk>>,
    query: Query,
    headers: HeaderMap,
) -> Reply<Response> {
    query.end()?;
    if let Some(value) = session(&headers) {
        desk.gate.sessions.end(value);
    }
    let is_form = headers.get(header::CONTENT_TYPE).is_some_and(|kind| !is_json(kind));
    let mut response = if is_form {
        (StatusCode::SEE_OTHER, [(header::LOCATION, "/login")]).into_response()
    } else {
        StatusCode::NO_CONTENT.into_response()
    };
    set_cookie(&mut response, &format!("{COOKIE}=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0"));
    Ok(response)
}

fn set_cookie(response: &mut Response, cookie: &str) {
    if let Ok(mut value) = HeaderValue::from_str(cookie) {
        value.set_sensitive(true);
        response.headers_mut().insert(header::SET_COOKIE, value);
    }
}

/// Whether a path leads to a page of this server and nowhere else.
fn is_own_path(path: &str) -> bool {
    let plain = path.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
    plain && path.starts_with('/') && !path.starts_with("//")
}

fn form(headers: &HeaderMap, bytes: &[u8]) -> Reply<Login> {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if kind.split(';').next().is_none_or(|kind| kind.trim() != "application/x-www-form-urlencoded") {
        return Err(body::not_json());
    }
    let wrong = |text: &str| Refused::new(Code::BadBody, text);
    let text = std::str::from_utf8(bytes).map_err(|_| wrong("the form is no UTF-8"))?;
    let mut login = Login::default();
    for pair in text.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let spaced = value.replace('+', " ");
        let value = percent_decode_str(&spaced).decode_utf8().map_err(|_| wrong("the form is no UTF-8"))?;
        match name {
            "token" => value.trim().clone_into(&mut login.token),
            "next" => login.next = Some(value.into_owned()),
            _ => return Err(wrong("the form has a field beside token and next")),
        }
    }
    if login.token.is_empty() {
        return Err(wrong("the form has no field token").field("token"));
    }
    Ok(login)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_login_leads_to_a_page_of_this_server_only() {
        for path in ["/", "/jobs?phase=failed", "/jobs/x#y"] {
            assert!(is_own_path(path), "{path}");
        }
        for path in [
            "//evil.example",
            "/\\evil.example",
            "https://evil.example",
            "javascript:alert(1)",
            "",
            "/a b",
            "/\n",
        ] {
            assert!(!is_own_path(path), "{path}");
        }
    }
}
