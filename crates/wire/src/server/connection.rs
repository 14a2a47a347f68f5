//! One peer: greeting, then requests, each in a task of its own.

use std::sync::Arc;
use std::time::Duration;

use bytes::BytesMut;
use futures_util::StreamExt;
use tokio::io::AsyncWriteExt;
use tokio::net::UnixStream;
use tokio::net::unix::OwnedReadHalf;
use tokio::sync::{Semaphore, mpsc, watch};
use tokio::task::JoinSet;
use tokio_util::codec::{FramedRead, LengthDelimitedCodec};

use super::{Served, dispatch, replies};
use crate::frame::{self, BadFrame, Hello, MAX_FRAME, MAX_HELLO, Purpose};

/// How long a peer may take to greet.
const GREETING_LIMIT: Duration = Duration::from_secs(5);
/// Replies that are ready and not yet gathered for writing.
const REPLIES_KEPT: usize = 64;

type Frames = FramedRead<OwnedReadHalf, LengthDelimitedCodec>;

/// Serves one peer until it leaves, misbehaves or the server stops.
pub(super) async fn serve(stream: UnixStream, served: Arc<Served>, mut stopped: watch::Receiver<bool>) {
    let (reader, mut writer) = stream.into_split();
    let mut frames = FramedRead::new(reader, frame::codec(MAX_HELLO));
    let hello = match tokio::time::timeout(GREETING_LIMIT, read_hello(&mut frames)).await {
        Ok(Ok(hello)) => hello,
        Ok(Err(error)) => {
            tracing::warn!(%error, "a peer that does not greet as it should was refused");
            let refusal = frame::greet(&Err::<(), _>(error.to_string())).unwrap_or_default();
            drop(tokio::time::timeout(GREETING_LIMIT, writer.write_all(&refusal)).await);
            return;
        }
        Err(_) => return,
    };
    let welcome = frame::greet(&Ok::<(), String>(())).unwrap_or_default();
    let welcomed = tokio::time::timeout(GREETING_LIMIT, writer.write_all(&welcome)).await;
    if !matches!(welcomed, Ok(Ok(()))) {
        return;
    }
    tracing::debug!(who = hello.who, purpose = ?hello.purpose, "connected");
    frames.decoder_mut().set_max_frame_length(MAX_FRAME);

    let wakes = (hello.purpose == Purpose::Coordination).then(|| served.rooms.coordination.wakes());
    let (ready, replies) = mpsc::channel(REPLIES_KEPT);
    let writing = replies::Writing { writer, replies, wakes, served: Arc::clone(&served) };
    // A set, so that the writer ends with this task, however it ends.
    let mut writers = JoinSet::new();
    writers.spawn(writing.run());
    let limit = tokio::select! {
        () = read_requests(&mut frames, hello.purpose, &served, ready) => served.options.drain_limit(),
        _ = writers.join_next() => Duration::ZERO,
        _ = stopped.changed() => served.options.shutdown_limit,
    };
    // Nothing more is read; requests under way still end, and the writer with the last of them.
    drop(frames);
    drop(tokio::time::timeout(limit, writers.join_next()).await);
    tracing::debug!(who = hello.who, purpose = ?hello.purpose, "disconnected");
}

async fn read_hello(frames: &mut Frames) -> Result<Hello, BadFrame> {
    match frames.next().await {
        Some(Ok(bytes)) => frame::read_greeting(&bytes),
        Some(Err(_)) | None => Err(BadFrame::Stranger),
    }
}

/// Starts a task per request, as long as frames can be read.
async fn read_requests(
    frames: &mut Frames,
    purpose: Purpose,
    served: &Arc<Served>,
    ready: mpsc::Sender<Vec<u8>>,
) {
    let places = Arc::new(Semaphore::new(served.options.requests_at_once));
    while let Some(bytes) = frames.next().await {
        let bytes: BytesMut = match bytes {
            Ok(bytes) => bytes,
            // What a killed peer leaves.
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => return,
            Err(error) => {
                tracing::warn!(%error, "a peer's frame cannot be read");
                return;
            }
        };
        if let Err(error) = frame::read_request(&bytes) {
            tracing::warn!(%error, "a peer's request cannot be read");
            return;
        }
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        let (served, ready) = (Arc::clone(served), ready.clone());
        tokio::spawn(async move {
            if let Some(reply) = dispatch::answer(purpose, &served.rooms, &bytes).await {
                // A peer that has gone needs no reply.
                drop(ready.send(reply).await);
            }
            drop(place);
        });
    }
}
