//! Wake-ups: told at once in this process, and by publish and subscribe to the others.
//!
//! Promises: nobody waits for a wake-up to be told; what a burst tells is published together, at most every five
//! milliseconds; the subscription has a connection of its own and is made anew when it breaks or its other end is silent, and
//! whoever listens is told then to look at the epoch. Scripts publish nothing.
//! Does not promise that any arrives: whoever waits also looks now and then.

use std::sync::{Arc, Weak};
use std::time::Duration;

use futures_util::StreamExt as _;
use tokio::sync::watch;
use tokio::time::timeout;

use super::link::{Address, Link, client};
pub(super) use crate::remote::wakes::{Hub, Wakes, sender};
use crate::remote::wakes::{PAUSE, TOGETHER};

/// How long a subscription may take until it stands, and an answer to a probe.
const PATIENCE: Duration = Duration::from_secs(4);
/// Silence after which the other end is asked whether it is there.
const PROBE: Duration = Duration::from_secs(5);

/// Begins to publish and to subscribe. Answers who sees whether the subscription stands; nothing before the first try.
pub(super) fn connect(
    hub: &Arc<Hub>,
    link: Arc<dyn Link>,
    address: Address,
    channel: String,
) -> watch::Receiver<Option<bool>> {
    let (stands, seen) = watch::channel(None);
    let publisher = tokio::spawn(publish(Arc::downgrade(hub), link, channel.clone()));
    let subscriber = tokio::spawn(subscribe(Arc::downgrade(hub), address, channel, stands));
    hub.hold([publisher, subscriber]);
    seen
}

async fn publish(hub: Weak<Hub>, link: Arc<dyn Link>, channel: String) {
    loop {
        let Some(held) = hub.upgrade() else { return };
        let wakes = held.next().await;
        let payload = held.message(&wakes).into_bytes();
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
        hub.stands_again();
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
