//! Draining a program's output: at any speed, within bounds, to the attempt's log.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use target::LogSink;
use tokio::io::AsyncReadExt;
use tokio::process::ChildStderr;

const BUFFER_BYTES: usize = 64 * 1024;
/// How much of the last output an error shows.
const TAIL_BYTES: usize = 2 * 1024;

/// The last output.
#[derive(Clone, Default)]
pub(super) struct Tail(Arc<Mutex<VecDeque<u8>>>);

impl Tail {
    fn push(&self, bytes: &[u8]) {
        let mut tail = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let keep = bytes.len().min(TAIL_BYTES);
        let over = (tail.len() + keep).saturating_sub(TAIL_BYTES);
        tail.drain(..over);
        tail.extend(&bytes[bytes.len() - keep..]);
    }

    /// The last output as text; what is not UTF-8 is shown in a marked form.
    pub(super) fn text(&self) -> String {
        let mut tail = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(tail.make_contiguous()).into_owned()
    }
}

/// Reads until the last holder of the other end closes it.
pub(super) fn pump(mut output: ChildStderr, mut sink: Box<dyn LogSink>) -> (impl Future<Output = ()>, Tail) {
    let tail = Tail::default();
    let keep = tail.clone();
    let pumping = async move {
        let mut buffer = vec![0; BUFFER_BYTES];
        while let Ok(read) = output.read(&mut buffer).await {
            if read == 0 {
                break;
            }
            sink.append(&buffer[..read]);
            keep.push(&buffer[..read]);
        }
        // Who sees the attempt's end shall see all that it said.
        sink.flush().await;
    };
    (pumping, tail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tail_keeps_the_last_bytes_and_marks_what_is_not_text() {
        let tail = Tail::default();
        tail.push(&[b'a'; TAIL_BYTES]);
        tail.push(b"end\xff");
        let text = tail.text();
        assert!(text.ends_with("aend\u{fffd}") && text.len() < TAIL_BYTES + 3);
        tail.push(&[b'b'; 3 * TAIL_BYTES]);
        assert_eq!(tail.text(), "b".repeat(TAIL_BYTES));
    }
}
