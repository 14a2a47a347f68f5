//! A problem as a response.

use api::Problem;
use api::v1::Code;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

/// Why a request was not done, on its way out.
#[derive(Debug)]
pub(crate) struct Refused(pub(crate) Box<Problem>);

/// What was asked for, or why not.
pub(crate) type Reply<T> = Result<T, Refused>;

/// The code of the problem in a response, for the trail: put among its extensions.
#[derive(Debug, Clone, Copy)]
pub struct Outcome(pub Code);

/// The problem in a response, for its page.
#[derive(Debug, Clone)]
pub(crate) struct Told(pub(crate) Box<Problem>);

impl From<Problem> for Refused {
    fn from(problem: Problem) -> Self {
        Self(Box::new(problem))
    }
}

impl Refused {
    pub(crate) fn new(code: Code, detail: impl Into<String>) -> Self {
        Problem::new(code, detail.into()).into()
    }

    /// With a status more exact than the code's own.
    pub(crate) fn status(mut self, status: StatusCode) -> Self {
        self.0.status = status.as_u16();
        self
    }

    /// With the field that is wrong.
    pub(crate) fn field(mut self, field: &str) -> Self {
        self.0.field = Some(field.into());
        self
    }

    /// With what is allowed.
    pub(crate) fn allowed(mut self, allowed: &str) -> Self {
        self.0.allowed = Some(allowed.into());
        self
    }

    /// With what to do about it.
    pub(crate) fn hint(mut self, hint: &str) -> Self {
        self.0.hint = Some(hint.into());
        self
    }
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.0.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let body = serde_json::to_vec(&self.0).unwrap_or_default();
        let mut response = (status, body).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        if status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"remora\""));
        }
        if status == StatusCode::TOO_MANY_REQUESTS || status == StatusCode::SERVICE_UNAVAILABLE {
            headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
        }
        response.extensions_mut().insert(Outcome(self.0.code));
        response.extensions_mut().insert(Told(self.0));
        response
    }
}
