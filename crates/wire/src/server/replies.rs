//! The writing half of a connection: replies first, wake-ups when there is room.
//!
//! Promises: nothing is kept for a peer that does not read but the replies of a bounded number of requests;
//! wake-ups that do not fit are lost. Ends, and with it the connection, when a write takes too long.

use std::sync::Arc;

use coordination::Wake;
use tokio::io::AsyncWriteExt;
use tokio::net::unix::OwnedWriteHalf;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{broadcast, mpsc};

use super::Served;
use crate::frame::{self, Head};

/// Bytes gathered for one write. A write of so many that takes longer than the drain limit ends it.
const CHUNK: usize = 256 * 1024;

/// Different wake-ups gathered for one write.
const WAKES_AT_ONCE: usize = 64;

/// All that writing needs.
pub(super) struct Writing {
    pub(super) writer: OwnedWriteHalf,
    pub(super) replies: mpsc::Receiver<Vec<u8>>,
    pub(super) wakes: Option<broadcast::Receiver<Wake>>,
    pub(super) served: Arc<Served>,
}

impl Writing {
    /// Writes until no request is under way and none can come, or the peer does not read.
    pub(super) async fn run(mut self) {
        let mut chunk = Vec::new();
        while self.gather(&mut chunk).await {
            for part in chunk.chunks(CHUNK) {
                let limit = self.served.options.drain_limit();
                match tokio::time::timeout(limit, self.writer.write_all(part)).await {
                    Ok(Ok(())) => {}
                    Ok(Err(_)) => return,
                    Err(_) => {
                        tracing::warn!("a peer does not read its replies and was disconnected");
                        return;
                    }
                }
            }
        }
    }

    /// Waits for something to write, and takes what else is ready.
    async fn gather(&mut self, chunk: &mut Vec<u8>) -> bool {
        chunk.clear();
        // A hint that is given twice at once says nothing more.
        let mut said: Vec<Wake> = Vec::new();
        tokio::select! {
            biased;
            reply = self.replies.recv() => match reply {
                Some(reply) => chunk.extend_from_slice(&reply),
                None => return false,
            },
            wake = next_wake(&mut self.wakes) => said.extend(wake),
        }
        while chunk.len() < CHUNK {
            match self.replies.try_recv() {
                Ok(reply) => chunk.extend_from_slice(&reply),
                Err(_) => break,
            }
        }
        while said.len() < WAKES_AT_ONCE
            && let Some(wake) = self.wakes.as_mut().and_then(|wakes| wakes.try_recv().ok())
        {
            if !said.contains(&wake) {
                said.push(wake);
            }
        }
        said.iter().for_each(|wake| push(chunk, wake));
        true
    }
}

fn push(chunk: &mut Vec<u8>, wake: &Wake) {
    // A wake-up that cannot be sent is a hint that is lost, as hints may be.
    if let Ok(frame) = frame::reply(Head::Wake, wake) {
        chunk.extend_from_slice(&frame);
    }
}

/// The next wake-up; never, on a connection that has none. `None` when some were lost.
async fn next_wake(wakes: &mut Option<broadcast::Receiver<Wake>>) -> Option<Wake> {
    match wakes {
        Some(receiver) => match receiver.recv().await {
            Ok(wake) => Some(wake),
            Err(RecvError::Lagged(_)) => None,
            Err(RecvError::Closed) => {
                *wakes = None;
                None
            }
        },
        None => std::future::pending().await,
    }
}
