//! The end of an attempt's log.
//!
//! Promises to read no more than [`MOST`] bytes for one page: of a longer log it shows the beginning, and says so.

use std::time::Duration;

use api::Api;
use api::v1::JobDetail;
use futures_util::StreamExt as _;

/// Bytes that are read.
const MOST: usize = 4 << 20;
/// Bytes that are shown.
const SHOWN: usize = 32 << 10;
/// How long a page waits for a log.
const PATIENCE: Duration = Duration::from_secs(2);

/// What is shown of a log.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Tail {
    /// The attempt; 0 for none yet.
    pub(crate) attempt: u32,
    pub(crate) text: String,
    /// Whether something stands before the text.
    pub(crate) cut: bool,
    /// Whether the log goes on after it.
    pub(crate) goes_on: bool,
    /// Whether the attempt may still write.
    pub(crate) running: bool,
    pub(crate) problem: Option<String>,
}

/// What is read of a stream, at most [`MOST`] bytes, and whether there is more.
async fn read(api: &dyn Api, detail: &JobDetail) -> Result<(Vec<u8>, bool), String> {
    let mut stream =
        api.log(detail.job.job, None, false).await.map_err(|problem| problem.detail.to_string())?;
    let mut bytes = Vec::new();
    while let Some(part) = stream.next().await {
        bytes.extend_from_slice(&part.map_err(|problem| problem.detail.to_string())?);
        if bytes.len() > MOST {
            return Ok((bytes, true));
        }
    }
    Ok((bytes, false))
}

/// The end of some bytes as text, from the beginning of a line, and whether something stands before it.
fn end(bytes: &[u8]) -> (String, bool) {
    let from = bytes.len().saturating_sub(SHOWN);
    let line = bytes[from..].iter().position(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let from = if from == 0 { 0 } else { from + line };
    (String::from_utf8_lossy(&bytes[from..]).into_owned(), from > 0)
}

/// Which attempt the log is of, without reading it.
pub(crate) fn unread(detail: &JobDetail) -> Tail {
    detail.attempts.last().map_or_else(Tail::default, |last| Tail {
        attempt: last.attempt,
        running: last.ended_at.is_none(),
        ..Tail::default()
    })
}

/// The log of the last attempt.
pub(crate) async fn tail(api: &dyn Api, detail: &JobDetail) -> Tail {
    let tail = unread(detail);
    if tail.attempt == 0 {
        return tail;
    }
    match tokio::time::timeout(PATIENCE, read(api, detail)).await {
        Ok(Ok((bytes, true))) => {
            let text = String::from_utf8_lossy(&bytes[..SHOWN.min(bytes.len())]).into_owned();
            Tail { text, goes_on: true, ..tail }
        }
        Ok(Ok((bytes, false))) => {
            let (text, cut) = end(&bytes);
            Tail { text, cut, ..tail }
        }
        Ok(Err(problem)) => Tail { problem: Some(problem), ..tail },
        Err(_) => Tail { problem: Some("the log was not read within 2 s".to_owned()), ..tail },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_begins_with_a_line() {
        assert_eq!(end(b"a\nb"), ("a\nb".to_owned(), false));
        let long = "0123456789\n".repeat(10_000);
        let (text, cut) = end(long.as_bytes());
        assert!(cut && text.starts_with("0123") && text.len() <= SHOWN && text.len() > SHOWN - 12);
        let (text, cut) = end(&[b'x'; SHOWN + 1]);
        assert!(cut && text.len() == SHOWN);
    }
}
