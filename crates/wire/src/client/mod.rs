//! Client adapters of the two ports, and the control connection.
//!
//! Promises: each client has one connection, made again in the background with growing pauses when it
//! breaks; while there is none, requests fail at once as `Unreachable`. A request that was handed to the
//! socket and has no answer when the connection breaks or its time is up is `Ambiguous`. Replies may come in
//! any order; ten thousand requests may be under way at once.
//! Does not send a request again: the caller does, with the same ids.

mod connection;
mod link;
mod rooms;
mod switch;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::sync::broadcast;

use crate::frame::{BadFrame, Purpose};
use coordination::Wake;
use link::Link;

pub use switch::LinkSwitch;

/// The time limit of a durable request unless said otherwise.
const DURABLE_LIMIT_MS: u64 = 30_000;

/// How a client connects.
#[derive(Debug, Clone)]
pub struct ClientOptions {
    /// The data folder whose owner serves.
    pub folder: PathBuf,
    /// Who connects, for the owner's log; such as the worker's name.
    pub who: String,
    /// How long a request may take, in milliseconds; read at every request, so that it can follow the lease
    /// length. Too short: requests that were applied are called ambiguous and sent again. Too long: a frozen
    /// owner is noticed late.
    pub time_limit_ms: Arc<AtomicU64>,
    /// Wake-ups kept for a receiver that is behind.
    pub wakes_kept: usize,
}

impl ClientOptions {
    /// The usual options; requests may take 30 s.
    pub fn new(folder: impl Into<PathBuf>, who: impl Into<String>) -> Self {
        Self {
            folder: folder.into(),
            who: who.into(),
            time_limit_ms: Arc::new(AtomicU64::new(DURABLE_LIMIT_MS)),
            wakes_kept: 4_096,
        }
    }

    /// The same with a time limit that the caller may change while the client lives.
    #[must_use]
    pub fn with_time_limit(mut self, time_limit_ms: Arc<AtomicU64>) -> Self {
        self.time_limit_ms = time_limit_ms;
        self
    }

    fn time_limit(&self) -> Duration {
        Duration::from_millis(self.time_limit_ms.load(Ordering::Relaxed))
    }
}

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// Nobody listens: the folder has no living owner.
    #[error("cannot connect to the owner of {}", folder.display())]
    NoOwner {
        /// The folder.
        folder: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The owner is of another version of this program.
    #[error("the owner of {} speaks version {theirs} of the wire protocol, this program speaks {}; use the same version of both", folder.display(), crate::VERSION)]
    OtherVersion {
        /// The folder.
        folder: PathBuf,
        /// The owner's version.
        theirs: u16,
    },
    /// What answered is no owner, or not a sane one.
    #[error("the owner of {} does not greet as it should: {reason}", folder.display())]
    BadGreeting {
        /// The folder.
        folder: PathBuf,
        /// What was wrong.
        reason: String,
    },
}

impl ConnectError {
    fn greeting(options: &ClientOptions, bad: &BadFrame) -> Self {
        match bad {
            BadFrame::Version { theirs } => {
                Self::OtherVersion { folder: options.folder.clone(), theirs: *theirs }
            }
            other => Self::BadGreeting { folder: options.folder.clone(), reason: other.to_string() },
        }
    }
}

macro_rules! client {
    ($(#[$doc:meta])* $name:ident, $purpose:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone)]
        pub struct $name {
            link: Arc<Link>,
        }

        impl $name {
            /// Connects to the owner of a folder.
            ///
            /// # Errors
            /// When there is no owner now, or it is of another version.
            pub async fn connect(options: ClientOptions) -> Result<Self, ConnectError> {
                Ok(Self { link: Link::connect(options, Purpose::$purpose).await? })
            }

            /// Ends when the connection has broken for the first time, by the owner's doing.
            pub async fn closed(&self) {
                self.link.closed().await;
            }

            /// Whether there is a connection now.
            #[must_use]
            pub fn is_connected(&self) -> bool {
                self.link.is_connected()
            }

            /// The switch that cuts this link, for tests of faults.
            #[must_use]
            pub fn switch(&self) -> LinkSwitch {
                self.link.switch()
            }
        }
    };
}

client! {
    /// The durable room, served by the folder's owner.
    DurableClient, Durable
}
client! {
    /// The coordination room, served by the folder's owner.
    CoordinationClient, Coordination
}
client! {
    /// Questions to the folder's owner that are no room's business.
    ControlClient, Control
}

impl ControlClient {
    /// Asks. The inner error is the owner's own answer.
    ///
    /// # Errors
    /// When the owner gave no answer.
    pub async fn ask(&self, request: &str) -> Result<Result<String, String>, protocol::Fault> {
        self.link.call("control", &(request,)).await
    }
}

impl CoordinationClient {
    fn subscribe(&self) -> broadcast::Receiver<Wake> {
        self.link.wakes()
    }
}
