//! One connection's requests: which are waiting to be written, which are written and unanswered.
//!
//! Promises: whether a request was handed to the socket is decided under one lock, so `Unreachable` is never
//! said of one that the owner may have got. A caller that gives up takes its request out.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use coordination::Wake;
use futures_util::StreamExt;
use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::net::unix::OwnedReadHalf;
use tokio::sync::{broadcast, mpsc, oneshot};
use tokio_util::codec::FramedRead;

use crate::frame::{self, BadFrame, Head, MAX_FRAME};

/// Bytes gathered for one write.
const CHUNK: usize = 256 * 1024;

/// What came of a request.
pub(super) enum Reply {
    Value(Bytes),
    Fault(Bytes),
    /// The connection broke, after the request was written or before.
    Broken {
        written: bool,
    },
}

struct Pending {
    /// Until it is written.
    frame: Option<Vec<u8>>,
    reply: oneshot::Sender<Reply>,
}

struct Calls {
    open: bool,
    pending: BTreeMap<u64, Pending>,
}

/// A living connection.
pub(super) struct Connection {
    calls: Mutex<Calls>,
    queue: mpsc::UnboundedSender<u64>,
}

impl Connection {
    pub(super) fn new() -> (Self, mpsc::UnboundedReceiver<u64>) {
        let (queue, queued) = mpsc::unbounded_channel();
        let calls = Mutex::new(Calls { open: true, pending: BTreeMap::new() });
        (Self { calls, queue }, queued)
    }

    fn calls(&self) -> MutexGuard<'_, Calls> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Queues a request; `None` when the connection has broken.
    pub(super) fn send(&self, call: u64, frame: Vec<u8>) -> Option<oneshot::Receiver<Reply>> {
        let (reply, answer) = oneshot::channel();
        let mut calls = self.calls();
        if !calls.open || self.queue.send(call).is_err() {
            return None;
        }
        calls.pending.insert(call, Pending { frame: Some(frame), reply });
        Some(answer)
    }

    /// Gives a request up. Answers whether it had been written; `None` when it is answered already.
    pub(super) fn give_up(&self, call: u64) -> Option<bool> {
        self.calls().pending.remove(&call).map(|pending| pending.frame.is_none())
    }

    /// The frame, which counts as written from now on.
    fn take_frame(&self, call: u64) -> Option<Vec<u8>> {
        self.calls().pending.get_mut(&call)?.frame.take()
    }

    fn answer(&self, call: u64, reply: Reply) {
        let pending = self.calls().pending.remove(&call);
        if let Some(pending) = pending {
            drop(pending.reply.send(reply));
        }
    }

    /// Nothing is sent any more; every request under way learns how far it had come.
    fn break_off(&self) {
        let mut calls = self.calls();
        calls.open = false;
        for (_, pending) in std::mem::take(&mut calls.pending) {
            drop(pending.reply.send(Reply::Broken { written: pending.frame.is_none() }));
        }
    }

    /// Reads and writes until the connection breaks or `stop` ends.
    pub(super) async fn run(
        &self,
        stream: UnixStream,
        queued: mpsc::UnboundedReceiver<u64>,
        wakes: &broadcast::Sender<Wake>,
        stop: impl Future<Output = ()>,
    ) {
        let (reader, writer) = stream.into_split();
        tokio::select! {
            () = stop => {}
            () = self.read(reader, wakes) => {}
            () = self.write(writer, queued) => {}
        }
        self.break_off();
    }

    async fn read(&self, reader: OwnedReadHalf, wakes: &broadcast::Sender<Wake>) {
        let mut frames = FramedRead::with_capacity(reader, frame::codec(MAX_FRAME), CHUNK);
        while let Some(Ok(bytes)) = frames.next().await {
            if let Err(error) = self.take_in(bytes, wakes) {
                tracing::warn!(%error, "the owner sent a frame that cannot be read");
                return;
            }
        }
    }

    fn take_in(&self, bytes: bytes::BytesMut, wakes: &broadcast::Sender<Wake>) -> Result<(), BadFrame> {
        match frame::read_reply(bytes)? {
            (Head::Value { call }, body) => self.answer(call, Reply::Value(body)),
            (Head::Fault { call }, body) => self.answer(call, Reply::Fault(body)),
            // Nobody listening is no fault: wake-ups are hints.
            (Head::Wake, body) => drop(wakes.send(postcard::from_bytes(&body)?)),
        }
        Ok(())
    }

    async fn write(&self, mut writer: impl AsyncWrite + Unpin, mut queued: mpsc::UnboundedReceiver<u64>) {
        let mut chunk = Vec::new();
        while let Some(call) = queued.recv().await {
            chunk.clear();
            let mut next = Some(call);
            while let Some(call) = next {
                // A request that was given up is not there any more.
                if let Some(frame) = self.take_frame(call) {
                    chunk.extend_from_slice(&frame);
                }
                next = if chunk.len() < CHUNK { queued.try_recv().ok() } else { None };
            }
            if writer.write_all(&chunk).await.is_err() {
                return;
            }
        }
    }
}
