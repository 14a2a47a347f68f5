//! What lies between a room and its server, in the hands of a test: answers that are lost, cut or other than they were,
//! and objects that look older than they are.

use std::collections::BTreeSet;
use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use object_store::client::{
    ClientOptions, HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse,
    HttpResponseBody, HttpService, ReqwestConnector,
};

/// What goes wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The request is carried out; its answer never arrives.
    LostReply,
    /// The request never arrives.
    Reset,
    /// The request is not carried out; this is answered.
    Answer(u16, &'static str),
    /// It is carried out, and this is answered under a status of success.
    HiddenError(&'static str),
    /// The answer breaks off in the middle.
    Truncated,
    /// No answer comes, ever.
    Silence,
    /// It is kept back and carried out only when [`Wire::release`] is called; an error is answered at once.
    KeptBack,
}

/// Which requests: of this method, with this in their URL, and of those the `skip`th and `count - 1` after it.
#[derive(Debug, Clone)]
pub(crate) struct Rule {
    pub(crate) method: &'static str,
    pub(crate) part: &'static str,
    pub(crate) skip: u32,
    pub(crate) count: u32,
    pub(crate) fault: Fault,
}

impl Rule {
    pub(crate) fn once(method: &'static str, part: &'static str, fault: Fault) -> Self {
        Self { method, part, skip: 0, count: 1, fault }
    }

    pub(crate) fn always(method: &'static str, part: &'static str, fault: Fault) -> Self {
        Self { method, part, skip: 0, count: u32::MAX, fault }
    }
}

#[derive(Debug, Default)]
struct Plan {
    rules: Vec<Rule>,
    aged: Vec<(BTreeSet<String>, Duration)>,
    asked: Vec<String>,
    kept_back: Vec<HttpRequest>,
    client: Option<HttpClient>,
}

/// The connection of one fixture.
#[derive(Debug, Default)]
pub(crate) struct Wire {
    plan: Mutex<Plan>,
}

impl Wire {
    pub(crate) fn add(&self, rule: Rule) {
        self.plan.lock().unwrap().rules.push(rule);
    }

    pub(crate) fn heal(&self) {
        self.plan.lock().unwrap().rules.clear();
    }

    /// Method and URL of all requests since the last call.
    pub(crate) fn asked(&self) -> Vec<String> {
        std::mem::take(&mut self.plan.lock().unwrap().asked)
    }

    pub(crate) fn make_older(&self, keys: BTreeSet<String>, by: Duration) {
        self.plan.lock().unwrap().aged.push((keys, by));
    }

    /// Lets what was kept back arrive; gives the statuses that were answered.
    pub(crate) async fn release(&self) -> Vec<u16> {
        let (kept, client) = {
            let mut plan = self.plan.lock().unwrap();
            (std::mem::take(&mut plan.kept_back), plan.client.clone().unwrap())
        };
        let mut statuses = Vec::new();
        for request in kept {
            statuses.push(client.execute(request).await.unwrap().status().as_u16());
        }
        statuses
    }

    fn fault(&self, request: &HttpRequest) -> Option<Fault> {
        let mut plan = self.plan.lock().unwrap();
        let asked = format!("{} {}", request.method(), request.uri());
        let mut found = None;
        for rule in &mut plan.rules {
            if request.method() != rule.method || !asked.contains(rule.part) || found.is_some() {
                continue;
            }
            if rule.skip > 0 {
                rule.skip -= 1;
            } else if rule.count > 0 {
                rule.count -= 1;
                found = Some(rule.fault.clone());
            }
        }
        plan.asked.push(asked);
        if found == Some(Fault::KeptBack) {
            plan.kept_back.push(request.clone());
        }
        found
    }

    /// The listing with the times of what was made older.
    fn aged(&self, body: &str) -> String {
        let plan = self.plan.lock().unwrap();
        let mut out = String::new();
        for (place, piece) in body.split("<Contents>").enumerate() {
            if place > 0 {
                out.push_str("<Contents>");
            }
            let age = between(piece, "Key").and_then(|key| {
                let aged = plan
                    .aged
                    .iter()
                    .rev()
                    .find(|(keys, _)| keys.contains(key) || keys.contains(&key.replace("%25", "%")));
                aged.map(|(_, by)| *by)
            });
            match (age, between(piece, "LastModified")) {
                (Some(age), Some(time)) if place > 0 => {
                    let then: jiff::Timestamp = time.parse().unwrap();
                    let then = then.checked_sub(age).unwrap();
                    out.push_str(&piece.replace(time, &then.to_string()));
                }
                _ => out.push_str(piece),
            }
        }
        out
    }
}

fn between<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let begin = text.find(&format!("<{name}>"))? + name.len() + 2;
    let end = text[begin..].find("</")? + begin;
    Some(&text[begin..end])
}

/// Makes connections that go through a [`Wire`].
#[derive(Debug)]
pub(crate) struct Through(pub(crate) Arc<Wire>);

impl HttpConnector for Through {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        let inner = ReqwestConnector::default().connect(options)?;
        self.0.plan.lock().unwrap().client = Some(inner.clone());
        Ok(HttpClient::new(Spliced { inner, wire: Arc::clone(&self.0) }))
    }
}

#[derive(Debug)]
struct Spliced {
    inner: HttpClient,
    wire: Arc<Wire>,
}

fn broken() -> HttpError {
    HttpError::new(HttpErrorKind::Interrupted, io::Error::from(io::ErrorKind::ConnectionReset))
}

fn answer(status: u16, code: &str) -> HttpResponse {
    let body =
        format!("<?xml version=\"1.0\"?>\n<Error><Code>{code}</Code><Message>made up</Message></Error>");
    http::Response::builder().status(status).body(HttpResponseBody::from(Bytes::from(body))).unwrap()
}

struct Half(Option<Bytes>);

impl http_body::Body for Half {
    type Data = Bytes;
    type Error = HttpError;

    fn poll_frame(
        mut self: std::pin::Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<http_body::Frame<Bytes>, HttpError>>> {
        std::task::Poll::Ready(Some(match self.0.take() {
            Some(bytes) => Ok(http_body::Frame::data(bytes)),
            None => Err(broken()),
        }))
    }
}

#[async_trait::async_trait]
impl HttpService for Spliced {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let fault = self.wire.fault(&request);
        let lists = request.uri().query().is_some_and(|query| query.contains("list-type"));
        match fault {
            Some(Fault::Reset | Fault::KeptBack) => return Err(broken()),
            Some(Fault::Answer(status, code)) => return Ok(answer(status, code)),
            Some(Fault::Silence) => std::future::pending::<()>().await,
            _ => {}
        }
        let (parts, body) = self.inner.execute(request).await?.into_parts();
        let bytes = body.bytes().await?;
        match fault {
            Some(Fault::LostReply) => Err(broken()),
            Some(Fault::HiddenError(code)) => Ok(answer(200, code)),
            Some(Fault::Truncated) => {
                let half = bytes.slice(..bytes.len() / 2);
                Ok(HttpResponse::from_parts(parts, HttpResponseBody::new(Half(Some(half)))))
            }
            _ if lists => {
                let aged = self.wire.aged(std::str::from_utf8(&bytes).unwrap());
                Ok(HttpResponse::from_parts(parts, HttpResponseBody::from(Bytes::from(aged))))
            }
            _ => Ok(HttpResponse::from_parts(parts, HttpResponseBody::from(bytes))),
        }
    }
}
