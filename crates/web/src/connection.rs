//! One connection: TLS where it is spoken, then HTTP/1.1.
//!
//! Promises: who does not speak is cut off in bounded time; when the server ends, a request that is under way is answered
//! and no other is taken.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use rustls::ServerConfig;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio_rustls::TlsAcceptor;
use tower::ServiceExt as _;

use crate::access::Peer;

/// How long a handshake, or a request's head, may take.
const PATIENCE: Duration = Duration::from_secs(15);
/// Bytes of a request's head, about: what is read at once may be as much again.
const HEAD: usize = 64 * 1024;
/// Headers of a request.
const HEADERS: usize = 100;

/// What every connection needs.
#[derive(Clone)]
pub(crate) struct Line {
    pub(crate) router: Router,
    pub(crate) tls: Option<Arc<ServerConfig>>,
    pub(crate) ends: watch::Receiver<bool>,
}

impl Line {
    /// Speaks until the other side has gone or the server ends.
    pub(crate) async fn speak(self, stream: TcpStream, from: SocketAddr) {
        let address = from.ip().to_canonical();
        // Small answers go out at once.
        let _ = stream.set_nodelay(true);
        match self.tls.clone() {
            None => self.http(stream, Peer { address, tls: false }).await,
            Some(config) => {
                let handshake = TlsAcceptor::from(config).accept(stream);
                match tokio::time::timeout(PATIENCE, handshake).await {
                    Ok(Ok(stream)) => self.http(stream, Peer { address, tls: true }).await,
                    Ok(Err(error)) => tracing::debug!(%address, %error, "a handshake failed"),
                    Err(_) => tracing::debug!(%address, "a handshake took too long"),
                }
            }
        }
    }

    async fn http(self, stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static, peer: Peer) {
        let router = self.router;
        let service = service_fn(move |mut request: hyper::Request<Incoming>| {
            request.extensions_mut().insert(peer);
            let answer = router.clone().oneshot(request.map(Body::new));
            async move { Ok::<_, Infallible>(answer.await.unwrap_or_else(|never| match never {})) }
        });
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(PATIENCE)
            .max_buf_size(HEAD)
            .max_headers(HEADERS)
            .serve_connection(TokioIo::new(stream), service);
        let mut connection = std::pin::pin!(connection);
        let mut ends = self.ends;
        let ended = tokio::select! {
            biased;
            _ = ends.wait_for(|ends| *ends) => None,
            done = connection.as_mut() => Some(done),
        };
        let done = match ended {
            Some(done) => done,
            None => {
                connection.as_mut().graceful_shutdown();
                connection.await
            }
        };
        if let Err(error) = done {
            tracing::debug!(address = %peer.address, %error, "a connection ended");
        }
    }
}
