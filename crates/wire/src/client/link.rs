//! A client's link to its owner: one connection at a time, made again in the background.
//!
//! Promises: a request is sent once, on the connection of that moment. Pauses between attempts to connect
//! grow from 10 ms to 1 s.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use coordination::Wake;
use protocol::Fault;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::sync::{broadcast, mpsc, watch};
use tokio::task::AbortHandle;

use super::connection::{Connection, Reply};
use super::{ClientOptions, ConnectError, LinkSwitch};
use crate::fault::SentFault;
use crate::frame::{self, Hello, MAX_HELLO, Purpose};
use crate::socket;

const FIRST_PAUSE: Duration = Duration::from_millis(10);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);
/// How long the owner may take to greet.
const GREETING_LIMIT: Duration = Duration::from_secs(5);

/// What the link's task and its callers share.
struct Shared {
    options: ClientOptions,
    purpose: Purpose,
    current: Mutex<Option<Arc<Connection>>>,
    calls: AtomicU64,
    wakes: broadcast::Sender<Wake>,
    switch: LinkSwitch,
    /// Connections that broke by the owner's doing.
    broken: watch::Sender<u64>,
}

/// One client's link.
pub(super) struct Link {
    shared: Arc<Shared>,
    task: AbortHandle,
}

impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Link").field("purpose", &self.shared.purpose).finish_non_exhaustive()
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// A stream that has been greeted, and the connection for it.
struct Fresh {
    stream: UnixStream,
    connection: Arc<Connection>,
    queued: mpsc::UnboundedReceiver<u64>,
}

/// Takes a request out of its connection when the caller stops waiting for it.
struct Waiting<'a> {
    connection: &'a Connection,
    call: u64,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.connection.give_up(self.call);
    }
}

impl Link {
    pub(super) async fn connect(options: ClientOptions, purpose: Purpose) -> Result<Arc<Self>, ConnectError> {
        let (wakes, _) = broadcast::channel(options.wakes_kept.max(1));
        let shared = Arc::new(Shared {
            options,
            purpose,
            current: Mutex::new(None),
            calls: AtomicU64::new(0),
            wakes,
            switch: LinkSwitch::new(),
            broken: watch::Sender::new(0),
        });
        let fresh = shared.connect().await?;
        let task = tokio::spawn(Arc::clone(&shared).keep(fresh)).abort_handle();
        Ok(Arc::new(Self { shared, task }))
    }

    pub(super) async fn closed(&self) {
        // The sender lives in `self`, so waiting cannot fail.
        drop(self.shared.broken.subscribe().wait_for(|broken| *broken > 0).await);
    }

    pub(super) fn is_connected(&self) -> bool {
        self.shared.current().is_some()
    }

    pub(super) fn switch(&self) -> LinkSwitch {
        self.shared.switch.clone()
    }

    pub(super) fn wakes(&self) -> broadcast::Receiver<Wake> {
        self.shared.wakes.subscribe()
    }

    /// Sends one request and waits for its answer, as long as the time limit allows.
    pub(super) async fn call<T: DeserializeOwned>(
        &self,
        method: &'static str,
        arguments: &impl Serialize,
    ) -> Result<T, Fault> {
        let call = self.shared.calls.fetch_add(1, Ordering::Relaxed);
        let frame = frame::request(call, method, arguments)
            .map_err(|error| Fault::corrupt(format!("send {method} to the owner"), error))?;
        match self.shared.exchange(call, frame).await {
            Ok(Reply::Value(body)) => postcard::from_bytes(&body)
                .map_err(|error| Fault::corrupt(format!("read the owner's answer to {method}"), error)),
            Ok(Reply::Fault(body)) => Err(postcard::from_bytes::<SentFault>(&body).map_or_else(
                |error| Fault::corrupt(format!("read the owner's fault in {method}"), error),
                Fault::from,
            )),
            Ok(Reply::Broken { written: false }) => Err(unreachable(method, "the connection broke")),
            Ok(Reply::Broken { written: true }) => {
                Err(Fault::ambiguous(format!("ask the owner to {method}"), "the connection broke"))
            }
            Err(lack) => Err(lack.fault(method)),
        }
    }
}

fn unreachable(method: &str, why: &str) -> Fault {
    Fault::unreachable(format!("ask the owner to {method}"), why)
}

/// Why there is no reply.
enum Lack {
    Connection,
    Time { written: bool },
}

impl Lack {
    fn fault(&self, method: &str) -> Fault {
        match self {
            Self::Connection => unreachable(method, "there is no connection"),
            Self::Time { written: false } => unreachable(method, "the time limit passed before it was sent"),
            Self::Time { written: true } => {
                Fault::ambiguous(format!("ask the owner to {method}"), "the time limit passed")
            }
        }
    }
}

impl Shared {
    fn current(&self) -> Option<Arc<Connection>> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set_current(&self, connection: Option<Arc<Connection>>) {
        *self.current.lock().unwrap_or_else(PoisonError::into_inner) = connection;
    }

    async fn exchange(&self, call: u64, frame: Vec<u8>) -> Result<Reply, Lack> {
        let connection = self.current().ok_or(Lack::Connection)?;
        let mut answer = connection.send(call, frame).ok_or(Lack::Connection)?;
        let _waiting = Waiting { connection: &connection, call };
        match tokio::time::timeout(self.options.time_limit(), &mut answer).await {
            Ok(reply) => reply.map_err(|_| Lack::Time { written: true }),
            Err(_) => match connection.give_up(call) {
                Some(written) => Err(Lack::Time { written }),
                // The answer came at the last moment.
                None => answer.await.map_err(|_| Lack::Time { written: true }),
            },
        }
    }

    /// Keeps the link: serves the connection, and makes a new one when it breaks.
    async fn keep(self: Arc<Self>, mut fresh: Fresh) {
        loop {
            self.serve(fresh).await;
            fresh = self.reconnect().await;
            // Whatever was said meanwhile is lost, so everybody looks.
            drop(self.wakes.send(Wake::Epoch));
        }
    }

    async fn serve(&self, fresh: Fresh) {
        let Fresh { stream, connection, queued } = fresh;
        connection.run(stream, queued, &self.wakes, self.switch.is(true)).await;
        self.set_current(None);
        if !self.switch.is_cut() {
            self.broken.send_modify(|broken| *broken += 1);
        }
    }

    async fn reconnect(&self) -> Fresh {
        let mut pause = FIRST_PAUSE;
        loop {
            self.switch.is(false).await;
            match self.connect().await {
                Ok(fresh) => return fresh,
                Err(error) => tracing::debug!(%error, "cannot connect again yet"),
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    /// Connects, greets, and offers the connection to callers.
    async fn connect(&self) -> Result<Fresh, ConnectError> {
        let folder = &self.options.folder;
        let no_owner = |source| ConnectError::NoOwner { folder: folder.clone(), source };
        let mut stream = socket::connect(folder).await.map_err(no_owner)?;
        let greeting = tokio::time::timeout(GREETING_LIMIT, self.greet(&mut stream)).await;
        greeting.map_err(|_| no_owner(std::io::ErrorKind::TimedOut.into()))??;
        let (connection, queued) = Connection::new();
        let connection = Arc::new(connection);
        self.set_current(Some(Arc::clone(&connection)));
        Ok(Fresh { stream, connection, queued })
    }

    async fn greet(&self, stream: &mut UnixStream) -> Result<(), ConnectError> {
        let folder = &self.options.folder;
        let no_owner = |source| ConnectError::NoOwner { folder: folder.clone(), source };
        let bad = |reason: String| ConnectError::BadGreeting { folder: folder.clone(), reason };
        let hello = Hello { purpose: self.purpose, who: self.options.who.clone() };
        let hello = frame::greet(&hello).map_err(|error| bad(error.to_string()))?;
        stream.write_all(&hello).await.map_err(no_owner)?;
        // Nothing follows the owner's greeting unasked but wake-ups; they must stay in the stream, so the
        // frame is read by itself.
        let mut length = [0; 4];
        stream.read_exact(&mut length).await.map_err(no_owner)?;
        let length = usize::try_from(u32::from_be_bytes(length)).unwrap_or(usize::MAX);
        if length > MAX_HELLO {
            return Err(bad(format!("its greeting has {length} bytes")));
        }
        let mut greeting = vec![0; length];
        stream.read_exact(&mut greeting).await.map_err(no_owner)?;
        frame::read_greeting::<Result<(), String>>(&greeting)
            .map_err(|error| ConnectError::greeting(&self.options, &error))?
            .map_err(bad)
    }
}
