//! A link that can fail: a TCP proxy between a process and a server.
//!
//! Promises: a change of the link holds for connections that stand and for those to come, at once. Does not look into what
//! passes, and does not reorder it: TCP does not either.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

const BUFFER: usize = 16 * 1024;

/// How the link is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Link {
    /// Everything passes.
    Open,
    /// Connections are closed, new ones as soon as they come.
    Closed,
    /// Nothing passes and nothing is closed, as when a cable is pulled: what was sent arrives when the link is open
    /// again.
    Silent,
    /// Requests pass; instead of the first reply the connection is closed.
    ReplyLost,
    /// Everything passes later.
    Slow(Duration),
}

/// A proxy that ends with this value.
#[derive(Debug)]
pub struct Proxy {
    address: SocketAddr,
    server: watch::Sender<SocketAddr>,
    link: watch::Sender<Link>,
    replies_lost: Arc<AtomicU64>,
    accepting: JoinHandle<()>,
}

impl Proxy {
    /// Listens on a free port of the loopback address, for a server there.
    ///
    /// # Errors
    /// When no port can be had.
    pub async fn start(server: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let link = watch::channel(Link::Open).0;
        let replies_lost = Arc::<AtomicU64>::default();
        let server = watch::channel(server).0;
        let accepting =
            tokio::spawn(accept(listener, server.subscribe(), link.clone(), Arc::clone(&replies_lost)));
        Ok(Self { address, server, link, replies_lost, accepting })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Leads connections to come to another server, as a name that moves does.
    pub fn lead_to(&self, server: SocketAddr) {
        self.server.send_replace(server);
    }

    /// Changes the link.
    pub fn set(&self, link: Link) {
        self.link.send_replace(link);
    }

    /// How many connections were closed instead of a reply.
    #[must_use]
    pub fn replies_lost(&self) -> u64 {
        self.replies_lost.load(Ordering::Relaxed)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.accepting.abort();
        self.set(Link::Closed);
    }
}

async fn accept(
    listener: TcpListener,
    server: watch::Receiver<SocketAddr>,
    link: watch::Sender<Link>,
    replies_lost: Arc<AtomicU64>,
) {
    while let Ok((client, _)) = listener.accept().await {
        let (link, replies_lost) = (link.subscribe(), Arc::clone(&replies_lost));
        let server = *server.borrow();
        tokio::spawn(async move {
            if *link.borrow() != Link::Closed
                && let Ok(server) = TcpStream::connect(server).await
            {
                carry(client, server, link, &replies_lost).await;
            }
        });
    }
}

/// Carries both ways until one side, or the link, closes.
async fn carry(client: TcpStream, server: TcpStream, link: watch::Receiver<Link>, replies_lost: &AtomicU64) {
    // Latency is the link's business, not the kernel's.
    let _ = (client.set_nodelay(true), server.set_nodelay(true));
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = server.into_split();
    tokio::select! {
        () = closed(link.clone()) => {}
        () = pump(from_client, to_server, link.clone(), None) => {}
        () = pump(from_server, to_client, link, Some(replies_lost)) => {}
    }
}

async fn closed(mut link: watch::Receiver<Link>) {
    // A sender that is gone is a proxy that is gone.
    let _ = link.wait_for(|link| *link == Link::Closed).await;
}

/// One direction; `replies` counts those lost, where it is the one back.
async fn pump(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    mut link: watch::Receiver<Link>,
    replies: Option<&AtomicU64>,
) {
    let mut buffer = vec![0; BUFFER];
    loop {
        let Ok(read @ 1..) = from.read(&mut buffer).await else { return };
        if link.wait_for(|link| *link != Link::Silent).await.is_err() {
            return;
        }
        let now = *link.borrow();
        match (now, replies) {
            (Link::ReplyLost, Some(lost)) => {
                lost.fetch_add(1, Ordering::Relaxed);
                return;
            }
            (Link::Slow(time), _) => tokio::time::sleep(time).await,
            _ => {}
        }
        if to.write_all(&buffer[..read]).await.is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;
    use std::time::Instant;
    use tokio::time::timeout;

    const SOON: Duration = Duration::from_secs(5);

    /// A server that answers every byte with the same byte and keeps what it got.
    async fn echo() -> (SocketAddr, Arc<Mutex<Vec<u8>>>) {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let got = Arc::<Mutex<Vec<u8>>>::default();
        let kept = Arc::clone(&got);
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let kept = Arc::clone(&kept);
                tokio::spawn(async move {
                    while let Ok(byte) = stream.read_u8().await {
                        kept.lock().unwrap().push(byte);
                        if stream.write_u8(byte).await.is_err() {
                            return;
                        }
                    }
                });
            }
        });
        (address, got)
    }

    async fn ask(stream: &mut TcpStream, byte: u8) -> io::Result<u8> {
        stream.write_u8(byte).await?;
        timeout(SOON, stream.read_u8()).await.unwrap()
    }

    #[tokio::test]
    async fn an_open_link_carries_both_ways_and_a_closed_one_ends_what_stands_and_what_comes() {
        let (server, _) = echo().await;
        let proxy = Proxy::start(server).await.unwrap();
        let mut stream = TcpStream::connect(proxy.address()).await.unwrap();
        assert_eq!(ask(&mut stream, 7).await.unwrap(), 7);
        proxy.set(Link::Closed);
        assert!(timeout(SOON, stream.read_u8()).await.unwrap().is_err());
        let mut late = TcpStream::connect(proxy.address()).await.unwrap();
        assert!(ask(&mut late, 7).await.is_err());
        proxy.set(Link::Open);
        let mut again = TcpStream::connect(proxy.address()).await.unwrap();
        assert_eq!(ask(&mut again, 8).await.unwrap(), 8);
    }

    #[tokio::test]
    async fn a_lost_reply_is_one_to_a_request_that_arrived() {
        let (server, got) = echo().await;
        let proxy = Proxy::start(server).await.unwrap();
        let mut stream = TcpStream::connect(proxy.address()).await.unwrap();
        assert_eq!(ask(&mut stream, 1).await.unwrap(), 1);
        proxy.set(Link::ReplyLost);
        assert!(ask(&mut stream, 2).await.is_err());
        assert_eq!(*got.lock().unwrap(), [1, 2]);
        assert_eq!(proxy.replies_lost(), 1);
    }

    #[tokio::test]
    async fn a_silent_link_delivers_when_it_is_open_again() {
        let (server, got) = echo().await;
        let proxy = Proxy::start(server).await.unwrap();
        let mut stream = TcpStream::connect(proxy.address()).await.unwrap();
        proxy.set(Link::Silent);
        stream.write_u8(3).await.unwrap();
        assert!(timeout(Duration::from_millis(50), stream.read_u8()).await.is_err());
        assert!(got.lock().unwrap().is_empty());
        proxy.set(Link::Open);
        assert_eq!(timeout(SOON, stream.read_u8()).await.unwrap().unwrap(), 3);
    }

    #[tokio::test]
    async fn a_slow_link_takes_its_time_both_ways() {
        let (server, _) = echo().await;
        let proxy = Proxy::start(server).await.unwrap();
        let mut stream = TcpStream::connect(proxy.address()).await.unwrap();
        proxy.set(Link::Slow(Duration::from_millis(20)));
        let began = Instant::now();
        assert_eq!(ask(&mut stream, 4).await.unwrap(), 4);
        assert!(began.elapsed() >= Duration::from_millis(40), "{:?}", began.elapsed());
    }
}
