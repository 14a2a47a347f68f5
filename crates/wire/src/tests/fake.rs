//! A durable room that answers nothing but faults, when it is let, and an owner that serves it.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use coordination::memory::MemoryRoom;
use coordination::{At, Coordination, PoolConfig};
use protocol::{ActorId, Fault, Origin};
use tempfile::TempDir;
use tokio::sync::watch;

use crate::client::{ClientOptions, ControlClient, CoordinationClient, DurableClient};
use crate::methods::{durable_access, durable_actions, durable_listing, durable_reads};
use crate::server::{ControlHandler, Listener, Rooms, ServerHandle, ServerOptions, serve};

pub(super) struct FakeDurable {
    pub(super) held: watch::Sender<bool>,
    pub(super) calls: AtomicU64,
}

impl FakeDurable {
    async fn answer<T>(&self, method: &str) -> Result<T, Fault> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        self.held.subscribe().wait_for(|held| !*held).await.unwrap();
        Err(Fault::unreachable(method, std::io::Error::other("fake")))
    }
}

macro_rules! fake {
    ([] $port:ident { $($method:ident($($argument:ident: $type:ty),*) -> $value:ty;)* }) => {
        #[async_trait]
        impl $port for FakeDurable {
            $(async fn $method(&self, $($argument: $type),*) -> Result<$value, Fault> {
                $(let _ = $argument;)*
                self.answer(stringify!($method)).await
            })*
        }
    };
}

mod room {
    use durable::*;
    use protocol::{AttemptId, JobId, Stamped, Window};

    use super::*;

    durable_actions!(fake[]);
    durable_reads!(fake[]);
    durable_listing!(fake[]);
    durable_access!(fake[]);
}

/// Answers with the request, or with so many bytes.
pub(super) struct Echo;

#[async_trait]
impl ControlHandler for Echo {
    async fn handle(&self, request: String) -> Result<String, String> {
        match request.strip_prefix("bytes ") {
            Some(count) => Ok("x".repeat(count.parse().map_err(|_| "no number".to_owned())?)),
            None => Ok(request),
        }
    }
}

pub(super) struct Owner {
    pub(super) durable: Arc<FakeDurable>,
    pub(super) coordination: Arc<MemoryRoom>,
    pub(super) folder: TempDir,
    pub(super) server: Option<ServerHandle>,
}

impl Owner {
    pub(super) async fn start() -> Self {
        Self::start_with(ServerOptions::default()).await
    }

    /// An owner of this room, which does not serve yet.
    pub(super) fn of(room: MemoryRoom) -> Self {
        let durable = FakeDurable { held: watch::Sender::new(false), calls: AtomicU64::new(0) };
        Self {
            durable: Arc::new(durable),
            coordination: Arc::new(room),
            folder: tempfile::tempdir().unwrap(),
            server: None,
        }
    }

    pub(super) async fn start_with(options: ServerOptions) -> Self {
        let mut owner = Self::of(MemoryRoom::default());
        owner.coordination.install_epoch(1, protocol::InstallationId(1)).await.unwrap();
        let config = PoolConfig { revision: 1, global_limit: 1_000, lease_ms: 15_000, paused: vec![] };
        owner.coordination.configure(&at(0), &config).await.unwrap();
        owner.coordination.open_epoch(&at(0)).await.unwrap();
        owner.serve(options);
        owner
    }

    pub(super) fn serve(&mut self, options: ServerOptions) {
        let rooms = Rooms {
            durable: self.durable.clone(),
            coordination: self.coordination.clone(),
            control: Arc::new(Echo),
        };
        self.server = Some(serve(Listener::bind(self.path()).unwrap(), rooms, options));
    }

    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(super) fn options(&self) -> ClientOptions {
        ClientOptions::new(self.path(), "test")
    }

    pub(super) async fn durable(&self) -> DurableClient {
        DurableClient::connect(self.options()).await.unwrap()
    }

    pub(super) async fn coordination(&self) -> CoordinationClient {
        CoordinationClient::connect(self.options()).await.unwrap()
    }

    pub(super) async fn control(&self) -> ControlClient {
        ControlClient::connect(self.options()).await.unwrap()
    }

    /// Waits until the fake has been called so often.
    pub(super) async fn called(&self, times: u64) {
        soon(|| self.durable.calls.load(Ordering::SeqCst) >= times).await;
    }
}

pub(super) fn at(sequence: u64) -> At {
    At { origin: Origin { actor: ActorId(7), sequence, sent_after: 0 }, epoch: 1 }
}

/// Waits until something holds; a test that waits for ten seconds has failed.
pub(super) async fn soon(holds: impl Fn() -> bool) {
    let wait = async {
        while !holds() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), wait).await.expect("it never came to hold");
}
