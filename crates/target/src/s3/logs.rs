//! An attempt's log: chunks of 256 KiB, the last of which is written anew as it grows. A head of 16 and the last 16 are
//! kept.
//!
//! Promises that writing never waits for the store, that a chunk is sent when it is full or a second after its first
//! new byte, and bounded memory: what is not sent yet is cut as the log itself is, so at most 8 MiB. What a reader
//! misses is marked. Does not survive the process: what was not sent when it was killed is lost.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http::Method;
use protocol::limit;
use tokio::sync::Notify;

use super::client::{Client, Request};
use super::sweep::Listed;
use super::{S3Target, keys};
use crate::logs::cut_mark;
use crate::port::{LogReader, LogSink, StageId};

const CHUNK_BYTES: u64 = 256 << 10;
/// Chunks at the beginning that stay, and as many at the end.
const HEAD: u64 = limit::LOG_BYTES / 2 / CHUNK_BYTES;
const DELAY: Duration = Duration::from_secs(1);

fn chunk_key(base: &str, number: u64) -> String {
    format!("{base}/{number:06}")
}

/// What is not in the store yet.
#[derive(Debug, Default)]
struct Pending {
    /// By number; the last one stays until it is full, because it is written anew.
    chunks: BTreeMap<u64, Vec<u8>>,
    changed: BTreeSet<u64>,
    gone: BTreeSet<u64>,
    last: u64,
    /// One of them is on its way.
    sending: bool,
    /// Rounds that the store refused.
    failures: u64,
    wanted: bool,
    closed: bool,
}

impl Pending {
    fn append(&mut self, mut bytes: &[u8]) {
        let whole = usize::try_from(CHUNK_BYTES).unwrap_or(usize::MAX);
        while !bytes.is_empty() {
            if self.last == 0 || self.chunks.get(&self.last).is_none_or(|chunk| chunk.len() >= whole) {
                self.next();
            }
            let chunk = self.chunks.entry(self.last).or_default();
            let (now, later) = bytes.split_at((whole - chunk.len()).min(bytes.len()));
            chunk.extend_from_slice(now);
            self.changed.insert(self.last);
            bytes = later;
        }
    }

    fn next(&mut self) {
        self.last += 1;
        self.chunks.insert(self.last, Vec::new());
        if self.last > 2 * HEAD {
            let cut = self.last - HEAD;
            self.gone.insert(cut);
            self.changed.remove(&cut);
            self.chunks.remove(&cut);
        }
    }

    fn is_urgent(&self) -> bool {
        self.wanted || self.closed || self.changed.range(..self.last).next().is_some()
    }

    fn is_sent(&self) -> bool {
        self.changed.is_empty() && self.gone.is_empty() && !self.sending
    }

    /// What to do next: delete a chunk, so that the limit holds at every moment, or send one.
    fn take(&mut self) -> Option<(u64, Option<Bytes>)> {
        self.sending = true;
        if let Some(number) = self.gone.pop_first() {
            return Some((number, None));
        }
        let Some(number) = self.changed.pop_first() else {
            self.sending = false;
            return None;
        };
        Some((number, self.chunks.get(&number).map(|chunk| Bytes::copy_from_slice(chunk))))
    }

    /// A chunk that was sent whole is not needed any more; one that could not be sent is, unless it was cut meanwhile.
    fn done(&mut self, number: u64, sent: bool) {
        let kept = self.chunks.contains_key(&number);
        if !sent && kept {
            self.changed.insert(number);
        } else if sent && number < self.last && !self.changed.contains(&number) {
            self.chunks.remove(&number);
        }
    }
}

#[derive(Debug, Default)]
struct Shared {
    pending: Mutex<Pending>,
    /// Something was appended, wanted or closed.
    news: Notify,
    /// A round of sending is over.
    sent: Notify,
}

impl Shared {
    fn pending(&self) -> std::sync::MutexGuard<'_, Pending> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Writer {
    shared: Arc<Shared>,
}

#[async_trait::async_trait]
impl LogSink for Writer {
    fn append(&mut self, bytes: &[u8]) {
        if !bytes.is_empty() {
            self.shared.pending().append(bytes);
            self.shared.news.notify_one();
        }
    }

    async fn flush(&mut self) {
        let failures = self.shared.pending().failures;
        loop {
            let sent = self.shared.sent.notified();
            tokio::pin!(sent);
            // Before the question, so that an end in between is heard.
            sent.as_mut().enable();
            {
                let mut pending = self.shared.pending();
                if pending.is_sent() || pending.failures > failures {
                    return;
                }
                pending.wanted = true;
            }
            self.shared.news.notify_one();
            sent.await;
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.shared.pending().closed = true;
        self.shared.news.notify_one();
    }
}

async fn send(client: Arc<Client>, base: String, shared: Arc<Shared>) {
    loop {
        wait(&shared).await;
        let failed = send_all(&client, &base, &shared).await;
        let closed = {
            let mut pending = shared.pending();
            (pending.wanted, pending.sending) = (false, false);
            pending.failures += u64::from(failed);
            pending.closed && (pending.is_sent() || failed)
        };
        shared.sent.notify_waiters();
        if closed {
            return;
        }
    }
}

/// Until there is something to send and its time has come.
async fn wait(shared: &Shared) {
    loop {
        let (empty, urgent) = {
            let pending = shared.pending();
            (pending.is_sent(), pending.is_urgent())
        };
        if urgent {
            return;
        }
        if empty {
            shared.news.notified().await;
        } else if tokio::time::timeout(DELAY, urgency(shared)).await.is_err() {
            return;
        }
    }
}

async fn urgency(shared: &Shared) {
    while !shared.pending().is_urgent() {
        shared.news.notified().await;
    }
}

/// Whether the store refused; then the rest waits for the next round.
async fn send_all(client: &Client, base: &str, shared: &Shared) -> bool {
    loop {
        let Some((number, bytes)) = shared.pending().take() else { return false };
        let key = chunk_key(base, number);
        let deletes = bytes.is_none();
        let request = match bytes {
            Some(bytes) => Request::new(Method::PUT, &key).body(bytes),
            None => Request::new(Method::DELETE, &key),
        };
        let sent = match client.ask(&request).await {
            Err(refusal) => deletes && refusal.is_missing(),
            Ok(_) => true,
        };
        let mut pending = shared.pending();
        if deletes && !sent {
            pending.gone.insert(number);
        } else if !deletes {
            pending.done(number, sent);
        }
        if !sent {
            return true;
        }
    }
}

/// Reads chunk after chunk.
struct Reader {
    room: S3Target,
    base: String,
    number: u64,
    offset: u64,
}

impl Reader {
    /// What a chunk has beyond an offset; `None`: it is not there.
    async fn more(&self, (number, offset): (u64, u64)) -> io::Result<Option<Bytes>> {
        let key = chunk_key(&self.base, number);
        match self.room.client.range(&key, (offset, CHUNK_BYTES - offset), None).await {
            Ok(reply) => Ok(Some(reply.body)),
            Err(refusal) if refusal.status() == 416 => Ok(Some(Bytes::new())),
            Err(refusal) if refusal.is_missing() => Ok(None),
            Err(refusal) => Err(io::Error::other(self.room.client.fault("read the log", &key, refusal))),
        }
    }

    /// The number of the first chunk behind this one.
    async fn later(&self, this: u64) -> io::Result<Option<u64>> {
        let mut later: Option<u64> = None;
        let prefix = format!("{}/", self.base);
        let number = |object: &Listed| object.key.strip_prefix(&prefix)?.parse().ok();
        let listed = self.room.each_below(&prefix, |object| {
            let found = number(&object).filter(|number| *number > this);
            later = later.into_iter().chain(found).min();
        });
        listed.await.map_err(io::Error::other)?;
        Ok(later)
    }
}

#[async_trait::async_trait]
impl LogReader for Reader {
    async fn read_more(&mut self) -> io::Result<Vec<u8>> {
        let mut out = Vec::new();
        // Kept apart until the end: a call may be given up in the middle, and then the next begins where this one did.
        let (mut number, mut offset) = (self.number, self.offset);
        loop {
            let found = if offset < CHUNK_BYTES { self.more((number, offset)).await? } else { None };
            if let Some(bytes) = &found {
                offset += super::seal::count(bytes);
                out.extend_from_slice(bytes);
            }
            let unfinished = found.is_some() && offset < CHUNK_BYTES;
            // Its first chunk is never cut: when that is missing, nothing was written.
            let unwritten = found.is_none() && (number, offset) == (1, 0);
            let later = if unfinished || unwritten { None } else { self.later(number).await? };
            let Some(later) = later else {
                (self.number, self.offset) = (number, offset);
                return Ok(out);
            };
            let cut = (later - number) * CHUNK_BYTES - offset;
            if cut > 0 {
                out.extend_from_slice(cut_mark(cut).as_bytes());
            }
            (number, offset) = (later, 0);
        }
    }
}

impl S3Target {
    pub(super) fn write_log(&self, stage: &StageId) -> Box<dyn LogSink> {
        let shared = Arc::new(Shared::default());
        tokio::spawn(send(Arc::clone(&self.client), keys::of_log(stage), Arc::clone(&shared)));
        Box::new(Writer { shared })
    }

    pub(super) fn follow_log(&self, stage: &StageId) -> Box<dyn LogReader> {
        Box::new(Reader { room: self.clone(), base: keys::of_log(stage), number: 1, offset: 0 })
    }
}
