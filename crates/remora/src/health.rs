//! How a worker process is, over HTTP on this machine: `/healthz`, `/readyz`, `/metrics`.
//!
//! Promises: `/readyz` tries the rooms over the worker's own connections, and says what it cannot do; a worker that drains,
//! or that coordination has not heard of, is not ready. Listens on loopback only, since nobody is asked who he is. Does
//! not change anything but a small object on the target, which a trial writes and deletes.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use api::v1::{Readiness, ReadyCheck};
use api::{Api as _, Direct};
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use metrics::Metrics;
use protocol::Incarnation;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};

/// How long a request's head may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// Connections at a time.
const CONNECTIONS: usize = 32;
/// How long to wait when the system gives no connection.
const PAUSE: Duration = Duration::from_millis(100);

/// What is told of.
pub(crate) struct Health {
    pub(crate) worker: Incarnation,
    pub(crate) direct: Direct,
    pub(crate) draining: watch::Receiver<bool>,
    pub(crate) metrics: Arc<Metrics>,
}

/// A socket on loopback.
///
/// # Errors
/// When the address is another machine's to reach, or cannot be had.
pub(crate) fn listen(address: SocketAddr) -> io::Result<std::net::TcpListener> {
    if !address.ip().is_loopback() {
        let text =
            "only addresses of loopback, such as 127.0.0.1:9100, are allowed: nobody is asked who he is";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
    }
    let listener = std::net::TcpListener::bind(address)?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

/// Answers until it is dropped.
pub(crate) async fn serve(listener: std::net::TcpListener, health: Health) -> io::Result<Infallible> {
    let listener = TcpListener::from_std(listener)?;
    let health = Arc::new(health);
    let room = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        let Ok(place) = Arc::clone(&room).acquire_owned().await else {
            return Err(io::Error::other("the connections are no longer counted"));
        };
        match listener.accept().await {
            Ok((stream, _)) => {
                let health = Arc::clone(&health);
                tokio::spawn(async move {
                    speak(stream, health).await;
                    drop(place);
                });
            }
            Err(error) => {
                tracing::debug!(%error, "no connection");
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}

async fn speak(stream: TcpStream, health: Arc<Health>) {
    let service = service_fn(move |request: Request<Incoming>| {
        let health = Arc::clone(&health);
        async move { Ok::<_, Infallible>(health.answer(request.method(), request.uri().path()).await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(PATIENCE)
        .keep_alive(false)
        .serve_connection(TokioIo::new(stream), service);
    if let Err(error) = connection.await {
        tracing::debug!(%error, "a connection ended");
    }
}

fn reply(status: StatusCode, of: &'static str, body: String) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(body)));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(of));
    response
}

impl Health {
    async fn answer(&self, method: &Method, path: &str) -> Response<Full<Bytes>> {
        const TEXT: &str = "text/plain; charset=utf-8";
        if !method.is_safe() {
            return reply(StatusCode::METHOD_NOT_ALLOWED, TEXT, "this is only read\n".to_owned());
        }
        match path {
            "/healthz" => reply(StatusCode::OK, TEXT, "ok\n".to_owned()),
            "/readyz" => {
                let readiness = self.readiness().await;
                let status = if readiness.ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
                reply(status, "application/json", serde_json::to_string(&readiness).unwrap_or_default())
            }
            "/metrics" => match self.metrics.scrape(None).await {
                Ok(text) => reply(StatusCode::OK, metrics::content_type(), text),
                Err(_) => reply(StatusCode::INTERNAL_SERVER_ERROR, TEXT, String::new()),
            },
            _ => reply(StatusCode::NOT_FOUND, TEXT, "there are /healthz, /readyz and /metrics\n".to_owned()),
        }
    }

    /// The rooms by trial, and what only this worker knows.
    async fn readiness(&self) -> Readiness {
        let (readiness, known) = tokio::join!(self.direct.readiness(), self.direct.workers());
        let mut checks = readiness.checks;
        let is_known = known.map(|known| known.iter().any(|known| known.incarnation == self.worker));
        checks.push(match is_known {
            Ok(true) => check("registered", true, "coordination hears of this worker"),
            Ok(false) => {
                check("registered", false, "coordination has not heard of this worker for two leases")
            }
            Err(problem) => check("registered", false, &problem.to_string()),
        });
        checks.push(match *self.draining.borrow() {
            false => check("accepting", true, "it takes new work"),
            true => check("accepting", false, "it drains and takes no new work"),
        });
        Readiness { ready: checks.iter().all(|check| check.ok), checks }
    }
}

fn check(name: &str, ok: bool, text: &str) -> ReadyCheck {
    ReadyCheck { name: name.to_owned(), ok, text: text.to_owned() }
}
