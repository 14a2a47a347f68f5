//! Wake-ups: told at once in this process, and by publish and subscribe to the others.
//!
//! Promises: nobody waits for a wake-up to be told; what a burst tells is published together, at most every five
//! milliseconds; the subscription has a connection of its own and is made anew when it breaks or its other end is silent, and
//! whoever listens is told then to look at the epoch. Scripts publish nothing.
//! Does not promise that any arrives: whoever waits also looks now and then.

use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use futures_util::StreamExt as _;
use protocol::JobId;
use tokio::sync::{Notify, broadcast, watch};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::link::{Address, Link, client};
use crate::Wake;

/// Between two messages to other processes.
const TOGETHER: Duration = Duration::from_millis(5);
/// Wake-ups that wait to be published, at most: more of them are only more hints.
const WAITING: usize = 1_024;
/// Between two tries to subscribe.
const PAUSE: Duration = Duration::from_millis(250);
/// How long a subscription may take until it stands, and an answer to a probe.
const PATIENCE: Duration = Duration::from_secs(4);
/// Silence after which the other end is asked whether it is there.
const PROBE: Duration = Duration::from_secs(5);

/// Wake-ups of one answer, each told once.
#[derive(Debug, Default)]
pub(super) struct Wakes {
    all: Vec<Wake>,
    returned: std::collections::BTreeSet<JobId>,
}

impl Wakes {
    pub(super) fn wake(&mut self, wake: Wake) {
        if !self.all.contains(&wake) {
            self.all.push(wake);
        }
    }

    /// A reservation is free, and its job may have to be offered again.
    pub(super) fn give_back(&mut self, job: JobId) {
        self.returned.insert(job);
        self.wake(Wake::Freed);
    }

    fn into_all(mut self) -> Vec<Wake> {
        if !self.returned.is_empty() {
            self.all.push(Wake::Nudged(self.returned.into_iter().collect()));
        }
        self.all
    }
}

/// Where wake-ups come together.
pub(super) struct Hub {
    here: broadcast::Sender<Wake>,
    /// Tells this process's own messages from others'.
    sender: String,
    waiting: Mutex<Vec<Wake>>,
    something: Notify,
    tasks: Mutex<Vec<JoinHandle<()>>>,
}

impl Drop for Hub {
    fn drop(&mut self) {
        let tasks = self.tasks.get_mut().unwrap_or_else(PoisonError::into_inner);
        tasks.iter().for_each(JoinHandle::abort);
    }
}

impl Hub {
    pub(super) fn new(kept: usize, sender: String) -> Arc<Self> {
        let (here, _) = broadcast::channel(kept.max(1));
        Arc::new(Self {
            here,
            sender,
            waiting: Mutex::default(),
            something: Notify::new(),
            tasks: Mutex::default(),
        })
    }

    pub(super) fn listen(&self) -> broadcast::Receiver<Wake> {
        self.here.subscribe()
    }

    pub(super) fn tell(&self, wakes: Wakes) {
        let wakes = wakes.into_all();
        if wakes.is_empty() {
            return;
        }
        // Nobody may be listening here.
        wakes.iter().for_each(|wake| drop(self.here.send(wake.clone())));
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        for wake in wakes {
            if waiting.len() < WAITING && !waiting.contains(&wake) {
                waiting.push(wake);
            }
        }
        drop(waiting);
        self.something.notify_one();
    }

    pub(super) fn tell_one(&self, wake: Wake) {
        let mut wakes = Wakes::default();
        wakes.wake(wake);
        self.tell(wakes);
    }

    /// Begins to publish and to subscribe. Answers who sees whether the subscription stands; nothing before the first try.
    pub(super) fn connect(
        self: &Arc<Self>,
        link: Arc<dyn Link>,
        address: Address,
        channel: String,
    ) -> watch::Receiver<Option<bool>> {
        let (stands, seen) = watch::channel(None);
        let publisher = tokio::spawn(publish(Arc::downgrade(self), link, channel.clone()));
        let subscriber = tokio::spawn(subscribe(Arc::downgrade(self), address, channel, stands));
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner).extend([publisher, subscriber]);
        seen
    }

    /// Waits until something is to be published, and takes it.
    async fn next(&self) -> Vec<Wake> {
        loop {
            let told = self.something.notified();
            let waiting = std::mem::take(&mut *self.waiting.lock().unwrap_or_else(PoisonError::into_inner));
            if !waiting.is_empty() {
                return waiting;
            }
            told.await;
        }
    }

    fn heard(&self, payload: &[u8]) {
        match serde_json::from_slice::<(String, Vec<Wake>)>(payload) {
            Ok((sender, wakes)) if sender != self.sender => {
                wakes.into_iter().for_each(|wake| drop(self.here.send(wake)));
            }
            Ok(_) => {}
            Err(error) => tracing::debug!(%error, "a wake-up cannot be read; it was only a hint"),
        }
    }
}

async fn publish(hub: Weak<Hub>, link: Arc<dyn Link>, channel: String) {
    loop {
        let Some(held) = hub.upgrade() else { return };
        let wakes = held.next().await;
        let payload = serde_json::to_vec(&(&held.sender, &wakes)).unwrap_or_default();
        drop(held);
        if let Err(fault) =
            link.command(&[b"PUBLISH", channel.as_bytes(), &payload], "publish wake-ups").await
        {
            tracing::debug!(%fault, "wake-ups were not published; they were only hints");
        }
        tokio::time::sleep(TOGETHER).await;
    }
}

async fn subscribe(hub: Weak<Hub>, address: Address, channel: String, stands: watch::Sender<Option<bool>>) {
    let mut again = false;
    loop {
        if let Err(error) = follow(&hub, &address, &channel, &stands, again).await {
            tracing::debug!(%error, %address, "no subscription to wake-ups; trying again");
        }
        stands.send_replace(Some(false));
        again = true;
        if hub.strong_count() == 0 {
            return;
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// Passes on what is published, until the connection ends or its other end is silent.
async fn follow(
    hub: &Weak<Hub>,
    address: &Address,
    channel: &str,
    stands: &watch::Sender<Option<bool>>,
    again: bool,
) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let standing = async {
        let (client, _) = client(address).await?;
        let (mut sink, messages) = client.get_async_pubsub().await?.split();
        sink.subscribe(channel).await?;
        Ok::<_, Box<dyn std::error::Error + Send + Sync>>((sink, messages))
    };
    let (mut sink, mut messages) = timeout(PATIENCE, standing).await??;
    stands.send_replace(Some(true));
    if again && let Some(hub) = hub.upgrade() {
        // What was told meanwhile is lost, and the server may be another.
        drop(hub.here.send(Wake::Epoch));
    }
    loop {
        match timeout(PROBE, messages.next()).await {
            Ok(Some(message)) => match hub.upgrade() {
                Some(hub) => hub.heard(message.get_payload_bytes()),
                None => return Ok(()),
            },
            Ok(None) => return Ok(()),
            // Whoever only listens never learns that the other end's machine is gone.
            Err(_) => drop(timeout(PATIENCE, sink.ping::<redis::Value>()).await??),
        }
    }
}

/// A name that no other room has: the process, its start, and a count.
pub(super) fn sender() -> String {
    use std::sync::atomic::{AtomicU64, Ordering};
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    format!("{}-{}-{}", std::process::id(), since.as_nanos(), COUNT.fetch_add(1, Ordering::Relaxed))
}
