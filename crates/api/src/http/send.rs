//! One request and its answer.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::header::CONTENT_TYPE;
use reqwest::{Method, RequestBuilder, Response};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::Http;
use crate::port::Answer;
use crate::v1::{Code, Problem};

/// What needs no escape within a path.
const NAME: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// A name as a part of a path.
pub(super) fn name(text: &str) -> impl std::fmt::Display {
    utf8_percent_encode(text, NAME)
}

/// Fields of a query, in their order.
#[derive(Default)]
pub(super) struct Fields(Vec<(&'static str, String)>);

impl Fields {
    pub(super) fn with(mut self, name: &'static str, value: Option<impl ToString>) -> Self {
        self.0.extend(value.map(|value| (name, value.to_string())));
        self
    }

    /// The path with the query behind it.
    pub(super) fn behind(&self, path: &str) -> String {
        let pairs: Vec<_> = self.0.iter().map(|(field, value)| format!("{field}={}", name(value))).collect();
        if pairs.is_empty() { path.to_owned() } else { format!("{path}?{}", pairs.join("&")) }
    }
}

/// The error with its causes, without the URL.
fn told(error: reqwest::Error) -> String {
    protocol::told(&error.without_url())
}

impl Http {
    pub(super) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, format!("{}{path}", self.base))
    }

    /// The head of the answer to a request, where it is none of a problem.
    pub(super) async fn answer(&self, request: RequestBuilder) -> Answer<Response> {
        let request = request.build().map_err(|error| Problem::new(Code::Invalid, told(error)))?;
        let is_safe = request.method().is_safe();
        let lost = |text: String, surely_not: bool| {
            let code = if is_safe || surely_not { Code::Unavailable } else { Code::Ambiguous };
            Problem::new(code, format!("{} gave no answer: {text}", self.base))
        };
        let answer = tokio::time::timeout(self.timeout, self.client.execute(request)).await;
        let response = match answer {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => {
                let surely_not = error.is_connect() || error.is_builder();
                return Err(lost(told(error), surely_not));
            }
            Err(_) => return Err(lost(format!("not within {} s", self.timeout.as_secs()), false)),
        };
        if response.status().is_success() || response.status() == reqwest::StatusCode::NOT_MODIFIED {
            return Ok(response);
        }
        Err(self.problem(response).await)
    }

    async fn problem(&self, response: Response) -> Problem {
        let status = response.status();
        let kind =
            response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).map(str::to_owned);
        let body = tokio::time::timeout(self.timeout, response.bytes()).await;
        let known = body.ok().and_then(Result::ok).and_then(|body| serde_json::from_slice(&body).ok());
        known.filter(|_| kind.as_deref() == Some("application/problem+json")).unwrap_or_else(|| {
            let detail = format!("{} answered {status}, and not as Remora does", self.base);
            Problem::new(Code::Unsupported, detail).hint("is that the URL of a Remora server?")
        })
    }

    /// The document that a request is answered with.
    pub(super) async fn document<T: DeserializeOwned>(&self, request: RequestBuilder) -> Answer<T> {
        let response = self.answer(request).await?;
        self.read(response).await
    }

    /// The document in an answer.
    pub(super) async fn read<T: DeserializeOwned>(&self, response: Response) -> Answer<T> {
        let strange = |text: String| {
            Problem::new(Code::Damaged, format!("the answer of {} cannot be read: {text}", self.base))
        };
        let body = tokio::time::timeout(self.timeout, response.bytes()).await;
        let body =
            body.map_err(|_| strange("it does not end".to_owned()))?.map_err(|error| strange(told(error)))?;
        serde_json::from_slice(&body).map_err(|error| strange(error.to_string()))
    }

    pub(super) async fn get<T: DeserializeOwned>(&self, path: &str) -> Answer<T> {
        self.document(self.request(Method::GET, path)).await
    }

    pub(super) fn with_body(
        &self,
        method: Method,
        path: &str,
        body: &impl Serialize,
    ) -> Answer<RequestBuilder> {
        let strange = |error| Problem::new(Code::Invalid, format!("the request cannot be written: {error}"));
        let bytes = serde_json::to_vec(body).map_err(strange)?;
        Ok(self.request(method, path).header(CONTENT_TYPE, "application/json").body(bytes))
    }

    pub(super) async fn post<T: DeserializeOwned>(&self, path: &str, body: &impl Serialize) -> Answer<T> {
        self.document(self.with_body(Method::POST, path, body)?).await
    }
}
