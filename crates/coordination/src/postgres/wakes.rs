//! Wake-ups between processes, by LISTEN and NOTIFY on the schema's channel.
//!
//! Promises: what a burst tells is sent together, at most every five milliseconds, in a transaction of its own, so nobody
//! who decides or submits waits for it; listening has a connection of its own, made anew when it breaks or its other end is
//! silent, and whoever listens is told then to look at the epoch. Behind a pooler that gives each transaction another
//! session nothing is listened to. Does not promise that any wake-up arrives.

use std::sync::{Arc, Weak};
use std::time::Duration;

use futures_util::stream::poll_fn;
use futures_util::{StreamExt as _, stream};
use pg::address::Statements as Sending;
use pg::schema::in_schema;
use pg::session::Sessions;
use tokio::sync::{mpsc, watch};
use tokio::time::timeout;
use tokio_postgres::AsyncMessage;
use tokio_postgres_rustls::MakeRustlsConnect;

use super::address::Address;
use super::params::Params;
use crate::Wake;
use crate::remote::wakes::{Hub, PAUSE, TOGETHER};

const TELL: &str = include_str!("sql/tell.sql");
const LISTEN: &str = include_str!("sql/listen.sql");
/// Bytes of one notification, at most; the server takes 7,999.
const LONGEST: usize = 7_800;
/// Jobs named by one wake-up, at most.
const JOBS: usize = 100;
/// How long listening may take to begin, and an answer to a probe.
const PATIENCE: Duration = Duration::from_secs(4);
/// Silence after which the other end is asked whether it is there.
const PROBE: Duration = Duration::from_secs(5);
/// Notifications that wait to be passed on.
const WAITING: usize = 1_024;

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Begins to tell and to listen. Answers who sees whether it is listened; nothing before the first try.
pub(super) fn connect(
    hub: &Arc<Hub>,
    sessions: Arc<Sessions>,
    address: &Address,
    tls: MakeRustlsConnect,
) -> watch::Receiver<Option<bool>> {
    let (stands, seen) = watch::channel(None);
    hub.hold([tokio::spawn(tell(Arc::downgrade(hub), sessions, address.clone()))]);
    if address.server.statements == Sending::Unnamed {
        stands.send_replace(Some(false));
    } else {
        hub.hold([tokio::spawn(listen(Arc::downgrade(hub), address.clone(), tls, stands))]);
    }
    seen
}

async fn tell(hub: Weak<Hub>, sessions: Arc<Sessions>, address: Address) {
    loop {
        let Some(held) = hub.upgrade() else { return };
        let wakes = held.next().await;
        let messages: Vec<_> = parted(wakes).iter().map(|wakes| held.message(wakes)).collect();
        drop(held);
        for message in messages {
            let message = format!("{}\n{message}", address.pool);
            let params = Params::new().text(Some(address.server.schema.clone())).text(Some(message));
            if let Err(trouble) = sessions.rows(TELL, &params).await {
                tracing::debug!(%trouble, "wake-ups were not told; they were only hints");
            }
        }
        tokio::time::sleep(TOGETHER).await;
    }
}

/// Wake-ups in parts that a notification can carry.
fn parted(wakes: Vec<Wake>) -> Vec<Vec<Wake>> {
    let small = wakes.into_iter().flat_map(|wake| match wake {
        Wake::Nudged(jobs) => jobs.chunks(JOBS).map(|some| Wake::Nudged(some.to_vec())).collect(),
        other => vec![other],
    });
    let mut parts: Vec<Vec<Wake>> = Vec::new();
    let mut room = 0;
    for wake in small {
        let length = serde_json::to_string(&wake).map_or(0, |text| text.len()) + 1;
        match parts.last_mut() {
            Some(part) if length <= room => {
                part.push(wake);
                room -= length;
            }
            _ => {
                parts.push(vec![wake]);
                // The pool's and the sender's names come before it.
                room = LONGEST.saturating_sub(512 + length);
            }
        }
    }
    parts
}

async fn listen(
    hub: Weak<Hub>,
    address: Address,
    tls: MakeRustlsConnect,
    stands: watch::Sender<Option<bool>>,
) {
    let mut again = false;
    loop {
        if let Err(error) = follow(&hub, (&address, &tls), &stands, again).await {
            tracing::debug!(%error, %address, "wake-ups are not heard; trying again");
        }
        stands.send_replace(Some(false));
        again = true;
        if hub.strong_count() == 0 {
            return;
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// Passes on what is told, until the connection ends or its other end is silent.
async fn follow(
    hub: &Weak<Hub>,
    (address, tls): (&Address, &MakeRustlsConnect),
    stands: &watch::Sender<Option<bool>>,
    again: bool,
) -> Result<(), Failure> {
    let (client, mut connection) = timeout(PATIENCE, address.server.config.connect(tls.clone())).await??;
    let (pass, mut heard) = mpsc::channel(WAITING);
    let driver = async move {
        let mut messages: stream::BoxStream<'_, _> = poll_fn(|cx| connection.poll_message(cx)).boxed();
        while let Some(Ok(message)) = messages.next().await {
            if let AsyncMessage::Notification(told) = message {
                // Who is behind looks now and then.
                let _ = pass.try_send(told.payload().to_owned());
            }
        }
    };
    let driver = tokio::spawn(driver);
    let ends = Ends(driver);
    timeout(PATIENCE, client.batch_execute(&in_schema(LISTEN, &address.server.schema))).await??;
    stands.send_replace(Some(true));
    if again && let Some(hub) = hub.upgrade() {
        hub.stands_again();
    }
    let ours = format!("{}\n", address.pool);
    loop {
        match timeout(PROBE, heard.recv()).await {
            Ok(Some(message)) => match (hub.upgrade(), message.strip_prefix(&ours)) {
                (Some(hub), Some(message)) => hub.heard(message.as_bytes()),
                (Some(_), None) => {}
                (None, _) => break,
            },
            Ok(None) => break,
            // Whoever only listens never learns that the other end's machine is gone.
            Err(_) => drop(timeout(PATIENCE, client.simple_query("")).await??),
        }
    }
    drop(ends);
    Ok(())
}

/// A task that ends with the value.
struct Ends(tokio::task::JoinHandle<()>);

impl Drop for Ends {
    fn drop(&mut self) {
        self.0.abort();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::JobId;

    #[test]
    fn a_burst_is_parted_so_that_each_part_can_be_carried_and_nothing_is_left_out() {
        let jobs: Vec<_> = (0..10_000).map(JobId).collect();
        let parts = parted(vec![Wake::Freed, Wake::Nudged(jobs.clone()), Wake::Epoch]);
        assert!(parts.iter().all(|part| serde_json::to_string(part).unwrap().len() < LONGEST - 400));
        assert!(parts.len() < 60, "{}", parts.len());
        let all: Vec<_> = parts.concat();
        let named: Vec<_> = all
            .iter()
            .flat_map(|wake| if let Wake::Nudged(jobs) = wake { jobs.clone() } else { Vec::new() })
            .collect();
        assert_eq!(named, jobs);
        assert_eq!((all.first(), all.last()), (Some(&Wake::Freed), Some(&Wake::Epoch)));
    }
}
