//! Peers that do not behave: another version, nonsense, silence.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use coordination::{Coordination, CoordinationReads};
use durable::DurableReads;
use protocol::{FaultKind, JobId};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;

use super::fake::{Owner, soon};
use crate::client::{ClientOptions, ConnectError, DurableClient};
use crate::frame::{self, Hello, MAX_FRAME, Purpose};
use crate::server::ServerOptions;
use crate::socket;

async fn raw(owner: &Owner, purpose: Purpose) -> UnixStream {
    let mut stream = socket::connect(owner.path()).await.unwrap();
    let hello = frame::greet(&Hello { purpose, who: "raw".to_owned() }).unwrap();
    stream.write_all(&hello).await.unwrap();
    let greeting = read_frame(&mut stream).await;
    frame::read_greeting::<Result<(), String>>(&greeting).unwrap().unwrap();
    stream
}

async fn read_frame(stream: &mut UnixStream) -> Vec<u8> {
    let length = stream.read_u32().await.unwrap();
    let mut frame = vec![0; length as usize];
    stream.read_exact(&mut frame).await.unwrap();
    frame
}

#[tokio::test]
async fn an_owner_of_another_version_is_named_by_its_version() {
    let folder = tempfile::tempdir().unwrap();
    let listener = socket::bind(folder.path()).unwrap();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        read_frame(&mut stream).await;
        stream.write_all(b"\0\0\0\x0aremora\0\x09??").await.unwrap();
    });
    let error = DurableClient::connect(ClientOptions::new(folder.path(), "test")).await.unwrap_err();
    assert!(matches!(error, ConnectError::OtherVersion { theirs: 9, .. }), "{error}");
    assert!(error.to_string().contains("speaks version 9"), "{error}");
}

#[tokio::test]
async fn a_client_of_another_version_gets_the_owners_version_and_the_end() {
    let owner = Owner::start().await;
    let mut stream = socket::connect(owner.path()).await.unwrap();
    stream.write_all(b"\0\0\0\x0aremora\0\x09??").await.unwrap();
    let greeting = read_frame(&mut stream).await;
    let refusal = frame::read_greeting::<Result<(), String>>(&greeting).unwrap().unwrap_err();
    assert!(refusal.contains("version 9"), "{refusal}");
    assert_eq!(stream.read(&mut [0]).await.unwrap(), 0, "closed");
}

/// A generator that needs no crate: the same nonsense in every run.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    fn bytes(&mut self, most: u64) -> Vec<u8> {
        let length = self.next() % most;
        (0..length).map(|_| self.next().to_le_bytes()[0]).collect()
    }
}

#[tokio::test]
async fn nonsense_from_a_peer_ends_its_connection_and_panics_nowhere() {
    static PANICS: AtomicUsize = AtomicUsize::new(0);
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if info.location().is_some_and(|at| !at.file().contains("tests")) {
            PANICS.fetch_add(1, Ordering::SeqCst);
        }
        before(info);
    }));
    let owner = Owner::start().await;
    let mut chance = Chance(1);
    for round in 0..300_u32 {
        let purpose = [Purpose::Durable, Purpose::Coordination, Purpose::Control][round as usize % 3];
        let mut stream = match round % 2 {
            0 => socket::connect(owner.path()).await.unwrap(),
            _ => raw(&owner, purpose).await,
        };
        let method = ["enqueue", "submit", "register", "holdings", "nothing"][round as usize % 5];
        let mut body = match round % 4 {
            3 => postcard::to_allocvec(&(chance.next(), method)).unwrap(),
            _ => Vec::new(),
        };
        body.extend(chance.bytes(400));
        let length = u32::try_from(body.len()).unwrap().to_be_bytes();
        // The peer may be thrown out while it writes.
        let _ = stream.write_all(&length).await;
        let _ = stream.write_all(&body).await;
        let _ = stream.write_all(&chance.bytes(40)).await;
    }
    assert!(owner.coordination().await.pool().await.is_ok());
    assert_eq!(PANICS.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn a_frame_that_is_too_long_is_refused_on_every_side() {
    let owner = Owner::start().await;
    let client = owner.coordination().await;
    let many = vec![JobId(u128::MAX); MAX_FRAME / 19 + 1];
    let fault = client.nudge(&many).await.unwrap_err();
    assert_eq!(fault.kind, FaultKind::Corrupt, "it would not fit the next time");
    assert!(client.pool().await.is_ok(), "the connection goes on");

    let fault = owner.control().await.ask(&format!("bytes {MAX_FRAME}")).await.unwrap_err();
    assert_eq!(fault.kind, FaultKind::Corrupt);
    let large = owner.control().await.ask("bytes 50000000").await.unwrap().unwrap();
    assert_eq!(large.len(), 50_000_000);

    let mut stream = raw(&owner, Purpose::Durable).await;
    stream.write_all(&u32::MAX.to_be_bytes()).await.unwrap();
    assert_eq!(stream.read(&mut [0]).await.unwrap(), 0, "closed");
    let mut stream = socket::connect(owner.path()).await.unwrap();
    stream.write_all(&1_000_000_u32.to_be_bytes()).await.unwrap();
    assert!(read_frame(&mut stream).await.starts_with(b"remora"), "refused before it is greeted");
    assert_eq!(stream.read(&mut [0]).await.unwrap_or(0), 0, "closed");
}

#[tokio::test]
async fn a_peer_that_does_not_read_is_disconnected_in_time_and_blocks_nobody() {
    let options = ServerOptions {
        drain_limit_ms: Arc::new(AtomicU64::new(300)),
        requests_at_once: 8,
        ..ServerOptions::default()
    };
    let owner = Owner::start_with(options).await;
    let mut frozen = raw(&owner, Purpose::Control).await;
    let request = frame::request(1, "control", &("bytes 1000000",)).unwrap();
    for _ in 0..20 {
        frozen.write_all(&request).await.unwrap();
    }
    let mut deaf = raw(&owner, Purpose::Coordination).await;
    let client = owner.coordination().await;
    let jobs = vec![JobId(u128::MAX); 5_000];
    for _ in 0..200 {
        client.nudge(&jobs).await.unwrap();
    }
    assert!(client.pool().await.is_ok());
    let end = async {
        // What was buffered can still be read; then comes the end.
        for stream in [&mut frozen, &mut deaf] {
            while stream.read(&mut vec![0; 65_536]).await.is_ok_and(|bytes| bytes > 0) {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
    };
    let stopped = tokio::spawn(async move { tokio::time::sleep(Duration::from_secs(1)).await });
    stopped.await.unwrap();
    tokio::time::timeout(Duration::from_secs(10), end).await.expect("both are disconnected");
}

#[tokio::test]
async fn a_request_behind_one_that_does_not_get_through_is_surely_not_sent() {
    let folder = tempfile::tempdir().unwrap();
    let listener = socket::bind(folder.path()).unwrap();
    let (close, closed) = tokio::sync::oneshot::channel::<()>();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        read_frame(&mut stream).await;
        stream.write_all(&frame::greet(&Ok::<(), String>(())).unwrap()).await.unwrap();
        closed.await.unwrap();
    });
    let options = ClientOptions::new(folder.path(), "test");
    let limit = options.time_limit_ms.clone();
    let client = DurableClient::connect(options).await.unwrap();
    let large = vec![JobId(u128::MAX); 1_000_000];
    let first = tokio::spawn({
        let client = client.clone();
        async move { client.phases(&large).await.unwrap_err().kind }
    });
    tokio::time::sleep(Duration::from_millis(100)).await;
    limit.store(50, Ordering::Relaxed);
    assert_eq!(client.pool().await.unwrap_err().kind, FaultKind::Unreachable, "by its time limit");
    limit.store(60_000, Ordering::Relaxed);
    let third = tokio::spawn({
        let client = client.clone();
        async move { client.pool().await.unwrap_err().kind }
    });
    tokio::time::sleep(Duration::from_millis(20)).await;
    close.send(()).unwrap();
    assert_eq!(first.await.unwrap(), FaultKind::Ambiguous, "part of it was written");
    assert_eq!(third.await.unwrap(), FaultKind::Unreachable, "none of it was");
    soon(|| !client.is_connected()).await;
}
