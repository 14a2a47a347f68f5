//! Wake-ups: told at once in this process, and collected for the others.
//!
//! Promises: nobody waits for a wake-up to be told; each is told once in a burst; what a process tells itself it does not
//! hear again. Does not promise that any arrives: whoever waits also looks now and then. Does not carry them to other
//! processes: the adapters do.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use protocol::JobId;
use tokio::sync::{Notify, broadcast};
use tokio::task::JoinHandle;

use crate::Wake;

/// Between two messages to other processes.
pub(crate) const TOGETHER: Duration = Duration::from_millis(5);
/// Wake-ups that wait to be told to other processes, at most: more of them are only more hints.
const WAITING: usize = 1_024;
/// Between two tries to listen.
pub(crate) const PAUSE: Duration = Duration::from_millis(250);

/// Wake-ups of one answer, each told once.
#[derive(Debug, Default)]
pub(crate) struct Wakes {
    all: Vec<Wake>,
    returned: BTreeSet<JobId>,
}

impl Wakes {
    pub(crate) fn wake(&mut self, wake: Wake) {
        if !self.all.contains(&wake) {
            self.all.push(wake);
        }
    }

    /// A reservation is free, and its job may have to be offered again.
    pub(crate) fn give_back(&mut self, job: JobId) {
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
pub(crate) struct Hub {
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
    pub(crate) fn new(kept: usize, sender: String) -> Arc<Self> {
        let (here, _) = broadcast::channel(kept.max(1));
        Arc::new(Self {
            here,
            sender,
            waiting: Mutex::default(),
            something: Notify::new(),
            tasks: Mutex::default(),
        })
    }

    pub(crate) fn listen(&self) -> broadcast::Receiver<Wake> {
        self.here.subscribe()
    }

    pub(crate) fn tell(&self, wakes: Wakes) {
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

    pub(crate) fn tell_one(&self, wake: Wake) {
        let mut wakes = Wakes::default();
        wakes.wake(wake);
        self.tell(wakes);
    }

    /// Waits until something is to be published, and takes it.
    pub(crate) async fn next(&self) -> Vec<Wake> {
        loop {
            let told = self.something.notified();
            let waiting = std::mem::take(&mut *self.waiting.lock().unwrap_or_else(PoisonError::into_inner));
            if !waiting.is_empty() {
                return waiting;
            }
            told.await;
        }
    }

    pub(crate) fn heard(&self, payload: &[u8]) {
        match serde_json::from_slice::<(String, Vec<Wake>)>(payload) {
            Ok((sender, wakes)) if sender != self.sender => {
                wakes.into_iter().for_each(|wake| drop(self.here.send(wake)));
            }
            Ok(_) => {}
            Err(error) => tracing::debug!(%error, "a wake-up cannot be read; it was only a hint"),
        }
    }

    /// A message of these wake-ups, for other processes.
    pub(crate) fn message(&self, wakes: &[Wake]) -> String {
        serde_json::to_string(&(&self.sender, wakes)).unwrap_or_default()
    }

    /// Whoever listens is told to look at the epoch: what was told meanwhile is lost, and the store may be another.
    pub(crate) fn stands_again(&self) {
        drop(self.here.send(Wake::Epoch));
    }

    /// Tasks that end with the hub.
    pub(crate) fn hold(&self, tasks: impl IntoIterator<Item = JoinHandle<()>>) {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner).extend(tasks);
    }
}

/// A name that no other room has: the process, its start, and a count.
pub(crate) fn sender() -> String {
    use std::sync::atomic::{AtomicU64, Ordering};
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    format!("{}-{}-{}", std::process::id(), since.as_nanos(), COUNT.fetch_add(1, Ordering::Relaxed))
}
