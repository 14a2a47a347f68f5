//! A proxy between a room and its server that loses replies: after the server has done what was asked.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// `ReadyForQuery` outside a transaction: the end of each reply, sent after its commit.
const READY: &[u8] = b"Z\0\0\0\x05I";
/// Replies are let through.
const OFF: i64 = -1;

/// What happens to the reply that is lost.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Then {
    /// The connection ends.
    Close,
    /// Nothing: it just does not come.
    Silence,
}

pub(crate) struct Proxy {
    pub(crate) port: u16,
    until: Arc<AtomicI64>,
}

impl Proxy {
    pub(crate) async fn to(server: u16, then: Then) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let until = Arc::new(AtomicI64::new(OFF));
        let watched = Arc::clone(&until);
        tokio::spawn(async move {
            while let Ok((near, _)) = listener.accept().await {
                let far = TcpStream::connect(("127.0.0.1", server)).await.unwrap();
                tokio::spawn(pass(near, far, Arc::clone(&watched), then));
            }
        });
        Self { port, until }
    }

    /// Loses the reply after so many that still come through.
    pub(crate) fn lose_after(&self, replies: i64) {
        self.until.store(replies, Ordering::SeqCst);
    }

    /// Whether it has been lost.
    pub(crate) fn has_lost(&self) -> bool {
        self.until.load(Ordering::SeqCst) == OFF
    }
}

async fn pass(near: TcpStream, far: TcpStream, until: Arc<AtomicI64>, then: Then) {
    let (mut from_near, mut to_near) = near.into_split();
    let (mut from_far, mut to_far) = far.into_split();
    let requests = tokio::spawn(async move { tokio::io::copy(&mut from_near, &mut to_far).await });
    let mut reply = Vec::new();
    let mut bytes = vec![0; 65_536];
    while let Ok(length) = from_far.read(&mut bytes).await {
        if length == 0 {
            break;
        }
        reply.extend_from_slice(&bytes[..length]);
        let whole = reply.ends_with(READY);
        let left = until.load(Ordering::SeqCst);
        if left == 0 {
            if !whole {
                continue;
            }
            until.store(OFF, Ordering::SeqCst);
            if then == Then::Close {
                break;
            }
            reply.clear();
            continue;
        }
        if to_near.write_all(&reply).await.is_err() {
            break;
        }
        reply.clear();
        if whole && left > 0 {
            until.fetch_sub(1, Ordering::SeqCst);
        }
    }
    requests.abort();
}
