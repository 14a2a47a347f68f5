//! Answers that go on: events and logs.
//!
//! Promises: a stream ends when the server does, and within seconds of its caller's token; nobody holds more streams than
//! allowed; what a slow reader does not take waits in the stream itself, which keeps the newest state and not a queue.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use api::v1::EventRecord;
use api::{Bytestream, Watching};
use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::future::{Either, ready, select};
use futures_util::{Stream, StreamExt as _, TryStreamExt as _, stream};

use crate::access::{Caller, StreamPlace};
use crate::router::Desk;

/// How often a quiet stream says that it is there.
const ALIVE: Duration = Duration::from_secs(15);

/// Until the server ends, or the caller's right to look.
async fn end(desk: Arc<Desk>, caller: Caller) {
    let mut ends = desk.ends.clone();
    let server = Box::pin(async move {
        // Whoever could say so has gone: so has the server.
        let _ = ends.wait_for(|ends| *ends).await;
    });
    let gone = Box::pin(Arc::clone(&desk.gate).gone(caller));
    match select(server, gone).await {
        Either::Left(_) | Either::Right(_) => {}
    }
}

/// Bytes that go on.
pub(crate) fn bytes(
    desk: &Arc<Desk>,
    (caller, place): (Caller, StreamPlace),
    bytes: Bytestream,
) -> impl Stream<Item = Result<Bytes, std::io::Error>> + use<> {
    let held = bytes.map_err(|problem| std::io::Error::other(problem.to_string()));
    held.inspect(move |_| {
        let _ = &place;
    })
    .take_until(Box::pin(end(Arc::clone(desk), caller)))
}

/// Events that go on: `text/event-stream`.
pub(crate) fn events(
    desk: &Arc<Desk>,
    (caller, place): (Caller, StreamPlace),
    events: Watching,
    headers: &HeaderMap,
) -> Response {
    let seen = headers.get("last-event-id").and_then(|id| id.to_str().ok()).map(str::to_owned);
    let mut at_start = true;
    let newer = events.filter(move |event| {
        let known = at_start && event.as_ref().is_ok_and(|event| seen.as_ref() == Some(&event.id));
        at_start = at_start && known;
        ready(!known)
    });
    let mut failed = false;
    let told = newer
        .take_while(move |event| {
            let goes_on = !failed;
            failed = event.is_err();
            ready(goes_on)
        })
        .map(|event| event.as_ref().map_or_else(|problem| block("problem", None, problem), told));
    let begin = stream::once(ready(Bytes::from_static(b"retry: 1000\n\n")));
    let alive = stream::unfold((), |()| async {
        tokio::time::sleep(ALIVE).await;
        Some((Bytes::from_static(b": alive\n\n"), ()))
    });
    // The stream ends with its events, not with its signs of life.
    let told = told.map(Some).chain(stream::once(ready(None)));
    let all = stream::select(told, alive.map(Some)).take_while(|one| ready(one.is_some())).filter_map(ready);
    let bounded = begin.chain(all).take_until(Box::pin(end(Arc::clone(desk), caller)));
    let body = bounded.map(Ok::<_, Infallible>).inspect(move |_| {
        let _ = &place;
    });
    let kind = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream")),
        // What proxies know as: do not keep this back.
        (header::HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no")),
    ];
    (kind, Body::from_stream(body)).into_response()
}

fn told(event: &EventRecord) -> Bytes {
    let name = serde_json::to_value(event.event).unwrap_or_default();
    block(name.as_str().unwrap_or("message"), Some(&event.id), event)
}

/// One event as the stream has it. JSON has no line breaks of its own.
fn block(name: &str, id: Option<&str>, data: &impl serde::Serialize) -> Bytes {
    let data = serde_json::to_string(data).unwrap_or_default();
    let id = id.filter(|id| !id.contains(['\n', '\r', '\0'])).map(|id| format!("id: {id}\n"));
    format!("{}event: {name}\ndata: {data}\n\n", id.unwrap_or_default()).into()
}
