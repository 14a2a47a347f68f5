//! Listening, and ending.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use api::Api;
use durable::Access;
use protocol::Fault;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::{JoinHandle, JoinSet};

use crate::access::Gate;
use crate::connection::Line;
use crate::document;
use crate::heard::Ears;
use crate::options::{Options, Refusal};
use crate::router::{Desk, router};
use crate::tls::TlsFilesError;

/// How long requests under way may take when the server ends.
const LAST: Duration = Duration::from_secs(5);
/// How long to wait when the system gives no connection, such as for want of files.
const PAUSE: Duration = Duration::from_millis(100);

/// Who answers.
#[derive(Clone)]
pub struct Served {
    /// The port.
    pub api: Arc<dyn Api>,
    /// Tokens and the trail.
    pub access: Arc<dyn Access>,
}

/// Why nothing is served.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// It would not be safe.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// Certificate or key cannot be used.
    #[error(transparent)]
    Tls(#[from] TlsFilesError),
    /// Whether there are tokens is not known.
    #[error("cannot read the tokens")]
    Tokens(#[source] Fault),
    /// The listener is of no use.
    #[error("cannot listen")]
    Listen(#[source] io::Error),
}

/// A server that runs.
#[derive(Debug)]
pub struct Handle {
    address: SocketAddr,
    has_tls: bool,
    ends: watch::Sender<bool>,
    accepting: JoinHandle<()>,
}

impl Handle {
    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The URL to ask it by on this machine.
    #[must_use]
    pub fn url(&self) -> String {
        let scheme = if self.has_tls { "https" } else { "http" };
        format!("{scheme}://{}", self.address)
    }

    /// Ends it: takes no connection more, ends streams, and gives requests under way five seconds.
    pub async fn shutdown(self) {
        self.ends.send_replace(true);
        if let Err(error) = self.accepting.await {
            tracing::error!(%error, "the HTTP server had a fault");
        }
    }
}

/// Serves on a listener, until the handle is shut down or dropped.
///
/// # Errors
/// When it would not be safe, or cannot be done.
pub async fn serve(listener: TcpListener, served: Served, options: Options) -> Result<Handle, ServeError> {
    let address = listener.local_addr().map_err(ServeError::Listen)?;
    let tokens = served.access.tokens().await.map_err(ServeError::Tokens)?;
    options.check(address, !tokens.tokens.is_empty())?;
    let tls = options.tls.as_ref().map(crate::TlsFiles::load).transpose()?;
    let (ends, ending) = watch::channel(false);
    let openapi = document::openapi();
    let desk = Arc::new(Desk {
        api: served.api,
        gate: Arc::new(Gate::new(served.access, &options, address, &openapi)),
        ends: ending.clone(),
        document: document::text(&openapi).into(),
    });
    let has_tls = tls.is_some();
    let ears = Ears::new(options.hearing, &openapi);
    let line = Line { router: router(desk, options.extra, (options.problem_page, ears)), tls, ends: ending };
    let accepting = tokio::spawn(accept(listener, line, options.limits.connections));
    Ok(Handle { address, has_tls, ends, accepting })
}

async fn accept(listener: TcpListener, line: Line, most: usize) {
    let places = Arc::new(Semaphore::new(most.max(1)));
    let mut connections = JoinSet::new();
    let mut ends = line.ends.clone();
    loop {
        let next = async {
            let place = Arc::clone(&places).acquire_owned().await;
            (place, listener.accept().await)
        };
        let (place, accepted) = tokio::select! {
            biased;
            _ = ends.wait_for(|ends| *ends) => break,
            Some(_) = connections.join_next() => continue,
            next = next => next,
        };
        match accepted {
            Ok((stream, from)) => {
                connections.spawn(speak(line.clone(), stream, from, place));
            }
            Err(error) => {
                tracing::warn!(%error, "cannot take a connection");
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
    drop(listener);
    let all = async { while connections.join_next().await.is_some() {} };
    if tokio::time::timeout(LAST, all).await.is_err() {
        tracing::warn!("requests under way are cut off");
    }
}

async fn speak<P>(line: Line, stream: TcpStream, from: SocketAddr, place: P) {
    line.speak(stream, from).await;
    drop(place);
}
