//! Bodies of requests, and documents of answers.
//!
//! Promises: a body is JSON by its media type, no longer than allowed, read in bounded time, UTF-8, and no deeper than
//! any reader of JSON takes; what is wrong with it is named.

use std::fmt;
use std::marker::PhantomData;
use std::time::Duration;

use api::v1::Code;
use axum::extract::{FromRequest, Request};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeOwned, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use crate::problem::{Refused, Reply};

/// Bytes of a body that is one document: args of 1 MiB, a command of 1 MiB, and what stands around them.
pub(crate) const ONE: usize = 2_560 * 1024;
/// Bytes of a body that is a batch.
pub(crate) const BATCH: usize = 16 * 1024 * 1024;
/// How deep JSON may be: what readers take that do not want their stack to overflow.
pub(crate) const DEPTH: usize = 127;
/// How long a body may take to arrive.
const PATIENCE: Duration = Duration::from_secs(30);

/// A body that is one document of at most `LIMIT` bytes.
pub(crate) struct Body<T, const LIMIT: usize = ONE>(pub(crate) T);

impl<T: DeserializeOwned, S: Sync, const LIMIT: usize> FromRequest<S> for Body<T, LIMIT> {
    type Rejection = Refused;

    async fn from_request(request: Request, _: &S) -> Reply<Self> {
        let content = request.headers().get(header::CONTENT_TYPE);
        if !content.is_some_and(is_json) {
            return Err(not_json());
        }
        let bytes = read(request, LIMIT).await?;
        parse::<Object<T>>(&bytes).map(|object| Self(object.0))
    }
}

/// A document that is an object: a list of its fields' values is none, though a reader of JSON might take it.
pub(crate) struct Object<T>(pub(crate) T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Fields(PhantomData)).map(Self)
    }
}

struct Fields<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for Fields<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map))
    }
}

/// Whether a media type is JSON's.
pub(crate) fn is_json(value: &HeaderValue) -> bool {
    let Ok(text) = value.to_str() else { return false };
    text.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"))
}

pub(crate) fn not_json() -> Refused {
    Refused::new(Code::Unsupported, "the body's media type is not application/json")
        .status(StatusCode::UNSUPPORTED_MEDIA_TYPE)
        .hint("send the header `Content-Type: application/json`")
}

/// The whole body.
pub(crate) async fn read(request: Request, limit: usize) -> Reply<Vec<u8>> {
    let whole = Limited::new(request.into_body(), limit).collect();
    match tokio::time::timeout(PATIENCE, whole).await {
        Ok(Ok(body)) => Ok(body.to_bytes().into()),
        Ok(Err(error)) if is_too_long(error.as_ref()) => {
            Err(Refused::new(Code::TooLarge, format!("the body is longer than {limit} bytes"))
                .allowed(&format!("at most {limit} bytes")))
        }
        Ok(Err(_)) => Err(Refused::new(Code::BadBody, "the body did not arrive whole")),
        Err(_) => Err(Refused::new(Code::BadBody, "the body did not arrive within 30 seconds")
            .status(StatusCode::REQUEST_TIMEOUT)),
    }
}

fn is_too_long(error: &(dyn std::error::Error + 'static)) -> bool {
    let mut at = Some(error);
    while let Some(error) = at {
        if error.is::<LengthLimitError>() {
            return true;
        }
        at = error.source();
    }
    false
}

/// The document in a body.
pub(crate) fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Reply<T> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        Refused::new(Code::BadBody, format!("the body is no UTF-8: byte {} is wrong", error.valid_up_to()))
    })?;
    let depth = depth(text);
    if depth > DEPTH {
        return Err(Refused::new(
            Code::BadBody,
            format!("the JSON is nested {depth} deep; allowed is {DEPTH}"),
        )
        .allowed(&format!("at most {DEPTH} lists and objects in one another")));
    }
    let mut reader = serde_json::Deserializer::from_str(text);
    let document = serde_path_to_error::deserialize(&mut reader).map_err(|error| {
        let path = error.path().to_string();
        let inner = error.into_inner();
        if inner.is_data() && path != "." {
            Refused::new(Code::BadBody, format!("the body's `{path}` cannot be taken: {inner}")).field(&path)
        } else {
            Refused::new(Code::BadBody, format!("the body cannot be taken: {inner}"))
        }
    })?;
    reader.end().map_err(|error| Refused::new(Code::BadBody, format!("the body does not end: {error}")))?;
    Ok(document)
}

/// How many lists and objects stand in one another, at most; strings are passed over.
fn depth(text: &str) -> usize {
    let (mut deepest, mut now, mut inside, mut escaped) = (0_usize, 0_usize, false, false);
    for byte in text.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if inside => escaped = true,
            b'"' => inside = !inside,
            b'[' | b'{' if !inside => {
                now += 1;
                deepest = deepest.max(now);
            }
            b']' | b'}' if !inside => now = now.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

/// A document as a response.
pub(crate) struct Document<T>(pub(crate) T);

impl<T: Serialize> IntoResponse for Document<T> {
    fn into_response(self) -> Response {
        match serde_json::to_vec(&self.0) {
            Ok(bytes) => ([(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))], bytes)
                .into_response(),
            Err(error) => {
                Refused::new(Code::Damaged, format!("the answer cannot be written: {error}")).into_response()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &[u8]) -> String {
        parse::<serde_json::Value>(text).unwrap_err().0.detail.to_string()
    }

    #[test]
    fn depth_counts_what_stands_in_one_another_and_not_in_strings() {
        assert_eq!(depth("1"), 0);
        assert_eq!(depth("[[],[[]],{}]"), 3);
        assert_eq!(depth(r#"["[[[[\"[[", "\\"]"#), 1);
        let at = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(parse::<serde_json::Value>(at(DEPTH).as_bytes()).is_ok());
        assert!(refused(at(DEPTH + 1).as_bytes()).contains("nested 128 deep; allowed is 127"));
        assert!(refused(at(100_000).as_bytes()).contains("nested 100000 deep"));
    }

    #[test]
    fn what_is_no_json_is_named() {
        assert!(refused(b"").contains("EOF"));
        assert!(refused(b"{\"a\":1}x").contains("does not end"));
        assert!(refused(b"\"\xff\"").contains("byte 1 is wrong"));
        assert!(refused(br#""\ud800""#).contains("cannot be taken"));
    }
}
