//! Streams of events: read, and taken up again.
//!
//! Promises: a stream that breaks is asked for again with the last event's id, first at once and then with growing pauses;
//! nothing that was told is told twice. What is refused for good ends it with that problem.

use std::collections::VecDeque;
use std::time::Duration;

use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use reqwest::Method;
use tokio::time::{sleep, timeout};

use super::Http;
use crate::port::{Answer, Bytestream, Watching};
use crate::v1::{Code, EventRecord, Problem};

/// A server says every 15 s that it is there; one that says nothing for so long is gone.
const SILENCE: Duration = Duration::from_secs(45);
/// The pause after a break; it doubles.
const PAUSE: Duration = Duration::from_millis(100);
/// The longest pause.
const LONGEST: Duration = Duration::from_secs(10);
/// Bytes of one event, at most.
const EVENT: usize = 16 * 1024 * 1024;

struct Following {
    http: Http,
    path: String,
    bytes: Option<Bytestream>,
    buffer: Vec<u8>,
    ready: VecDeque<Answer<EventRecord>>,
    last: Option<String>,
    pause: Duration,
    /// Nothing follows: the job has ended, or the server refuses.
    ended: bool,
}

/// Begins to follow; what is refused at once is refused here.
pub(super) async fn follow(http: Http, path: String) -> Answer<Watching> {
    let mut following = Following {
        http,
        path,
        bytes: None,
        buffer: Vec::new(),
        ready: VecDeque::new(),
        last: None,
        pause: PAUSE,
        ended: false,
    };
    following.bytes = Some(ask(&following.http, &following.path, None).await?);
    Ok(Box::pin(stream::unfold(following, Following::next)))
}

/// Asks for the stream, from behind the last event that came.
async fn ask(http: &Http, path: &str, last: Option<&str>) -> Answer<Bytestream> {
    let mut request = http.request(Method::GET, path).header("accept", "text/event-stream");
    if let Some(last) = last {
        request = request.header("last-event-id", last);
    }
    let response = http.answer(request).await?;
    let broken = |error: reqwest::Error| Problem::new(Code::Unavailable, error.without_url().to_string());
    Ok(Box::pin(response.bytes_stream().map(move |piece| piece.map_err(broken))))
}

impl Following {
    async fn next(mut self) -> Option<(Answer<EventRecord>, Self)> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some((event, self));
            }
            if self.ended {
                return None;
            }
            match self.bytes.take() {
                Some(mut bytes) => {
                    if let Ok(Some(Ok(piece))) = timeout(SILENCE, bytes.next()).await {
                        self.bytes = Some(bytes);
                        self.take(&piece);
                    } else {
                        // It broke off, or ended because the server did.
                        self.buffer.clear();
                    }
                }
                None => self.again().await,
            }
        }
    }

    /// Asks again after a break.
    async fn again(&mut self) {
        sleep(self.pause).await;
        self.pause = (self.pause * 2).min(LONGEST);
        match ask(&self.http, &self.path, self.last.as_deref()).await {
            Ok(bytes) => self.bytes = Some(bytes),
            Err(problem) if matches!(problem.code, Code::Unavailable | Code::TooMany) => {}
            Err(problem) => self.end_with(Err(problem)),
        }
    }

    fn end_with(&mut self, event: Answer<EventRecord>) {
        self.ready.push_back(event);
        self.bytes = None;
        self.ended = true;
    }

    /// Takes what has come: whole events end with an empty line.
    fn take(&mut self, piece: &Bytes) {
        self.buffer.extend_from_slice(piece);
        if self.buffer.len() > EVENT {
            self.end_with(Err(Problem::new(Code::Damaged, "an event of the server does not end")));
        }
        while let Some(end) = self.buffer.windows(2).position(|two| two == b"\n\n") {
            let block: Vec<u8> = self.buffer.drain(..end + 2).collect();
            self.event(&String::from_utf8_lossy(&block));
        }
    }

    fn event(&mut self, block: &str) {
        let field = |name: &str| block.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
        let Some(data) = field("data") else { return };
        if field("event") == Some("problem") {
            let problem = serde_json::from_str(data);
            return self.end_with(Err(
                problem.unwrap_or_else(|_| Problem::new(Code::Damaged, "the stream broke off"))
            ));
        }
        match serde_json::from_str::<EventRecord>(data) {
            Ok(event) if self.last.as_ref() == Some(&event.id) => {}
            Ok(event) => {
                self.pause = PAUSE;
                self.last = Some(event.id.clone());
                let ends = event.job.as_ref().is_some_and(|job| job.phase.is_terminal());
                self.ready.push_back(Ok(event));
                self.ended = self.ended || ends && self.path != "/v1/events";
            }
            Err(error) => {
                self.end_with(Err(Problem::new(Code::Damaged, format!("an event cannot be read: {error}"))));
            }
        }
    }
}
