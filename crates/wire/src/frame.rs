//! Frames: a length of four bytes, then that many bytes.
//!
//! The first frame of each side begins with the same eight bytes in every version of this program, so that
//! two versions can tell each other apart: `remora` and the version's number. After that, a request is
//! (call, method, arguments) and what comes back is a reply or a wake-up, all in postcard.
//! Promises: what cannot be read is an error, never a panic. Before the greeting, frames are small.

use bytes::{Bytes, BytesMut};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tokio_util::codec::LengthDelimitedCodec;

/// The version of this protocol: both sides must have the same.
pub const VERSION: u16 = 3;

/// The longest frame, in bytes. The largest single thing that a port carries is far below it; a batch above
/// it is refused before it is sent.
pub const MAX_FRAME: usize = 96 * 1024 * 1024;

/// The longest first frame.
pub(crate) const MAX_HELLO: usize = 4 * 1024;

const MAGIC: &[u8; 6] = b"remora";

/// What a connection is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Purpose {
    /// The durable room.
    Durable,
    /// The coordination room, with wake-ups.
    Coordination,
    /// Questions from the command line to the owner.
    Control,
}

/// The client's first frame.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Hello {
    pub(crate) purpose: Purpose,
    /// For people who read logs.
    pub(crate) who: String,
}

/// Why bytes are not what they should be.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BadFrame {
    #[error("the peer does not speak this protocol")]
    Stranger,
    #[error("the peer speaks version {theirs} of the wire protocol, this program speaks {VERSION}")]
    Version { theirs: u16 },
    #[error("the frame cannot be read")]
    Unreadable(#[from] postcard::Error),
    #[error("the frame has {bytes} bytes, at most {MAX_FRAME} are allowed")]
    TooLong { bytes: usize },
}

/// The codec that splits a stream into frames of at most `longest` bytes.
pub(crate) fn codec(longest: usize) -> LengthDelimitedCodec {
    LengthDelimitedCodec::builder().max_frame_length(longest).new_codec()
}

/// A first frame, length included.
pub(crate) fn greet(body: &impl Serialize) -> Result<Vec<u8>, BadFrame> {
    build(|mut frame| {
        frame.extend_from_slice(MAGIC);
        frame.extend_from_slice(&VERSION.to_be_bytes());
        postcard::to_extend(body, frame)
    })
}

/// Reads a first frame.
pub(crate) fn read_greeting<T: DeserializeOwned>(frame: &[u8]) -> Result<T, BadFrame> {
    let (magic, rest) = frame.split_first_chunk::<6>().ok_or(BadFrame::Stranger)?;
    let (version, body) = rest.split_first_chunk::<2>().ok_or(BadFrame::Stranger)?;
    if magic != MAGIC {
        return Err(BadFrame::Stranger);
    }
    match u16::from_be_bytes(*version) {
        VERSION => Ok(postcard::from_bytes(body)?),
        theirs => Err(BadFrame::Version { theirs }),
    }
}

/// A request, length included.
pub(crate) fn request(call: u64, method: &str, arguments: &impl Serialize) -> Result<Vec<u8>, BadFrame> {
    build(|frame| postcard::to_extend(&(call, method, arguments), frame))
}

/// A request's call and method, and its arguments still in postcard.
pub(crate) fn read_request(frame: &[u8]) -> Result<(u64, &str, &[u8]), BadFrame> {
    let ((call, method), arguments) = postcard::take_from_bytes::<(u64, &str)>(frame)?;
    Ok((call, method, arguments))
}

/// What the server sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Head {
    /// The method's value follows.
    Value { call: u64 },
    /// A fault follows.
    Fault { call: u64 },
    /// A wake-up follows.
    Wake,
}

/// A frame of the server, length included.
pub(crate) fn reply(head: Head, body: &impl Serialize) -> Result<Vec<u8>, BadFrame> {
    build(|frame| postcard::to_extend(&(head, body), frame))
}

/// A frame of the server: its head, and its body still in postcard.
pub(crate) fn read_reply(frame: BytesMut) -> Result<(Head, Bytes), BadFrame> {
    let frame = frame.freeze();
    let (head, body) = postcard::take_from_bytes::<Head>(&frame)?;
    let body = frame.slice_ref(body);
    Ok((head, body))
}

fn build(fill: impl FnOnce(Vec<u8>) -> Result<Vec<u8>, postcard::Error>) -> Result<Vec<u8>, BadFrame> {
    let mut frame = fill(vec![0; 4])?;
    let bytes = frame.len() - 4;
    match u32::try_from(bytes) {
        Ok(length) if bytes <= MAX_FRAME => frame[..4].copy_from_slice(&length.to_be_bytes()),
        _ => return Err(BadFrame::TooLong { bytes }),
    }
    Ok(frame)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(frame: &[u8]) -> &[u8] {
        assert_eq!(u32::from_be_bytes(frame[..4].try_into().unwrap()) as usize, frame.len() - 4);
        &frame[4..]
    }

    #[test]
    fn a_greeting_reads_back_and_another_version_is_named() {
        let hello = Hello { purpose: Purpose::Control, who: "cli".to_owned() };
        let mut frame = greet(&hello).unwrap();
        assert_eq!(read_greeting::<Hello>(body(&frame)).unwrap(), hello);
        frame[11] = 9;
        let other = read_greeting::<Hello>(body(&frame)).unwrap_err();
        assert_eq!(
            other.to_string(),
            format!("the peer speaks version 9 of the wire protocol, this program speaks {VERSION}")
        );
        assert!(matches!(read_greeting::<Hello>(b"GET / HTTP/1.1"), Err(BadFrame::Stranger)));
        assert!(matches!(read_greeting::<Hello>(b""), Err(BadFrame::Stranger)));
    }

    #[test]
    fn a_request_reads_back() {
        let frame = request(300, "enqueue", &(7_u8, "x")).unwrap();
        let (call, method, arguments) = read_request(body(&frame)).unwrap();
        assert_eq!((call, method), (300, "enqueue"));
        assert_eq!(postcard::from_bytes::<(u8, String)>(arguments).unwrap(), (7, "x".to_owned()));
    }

    #[test]
    fn a_reply_reads_back() {
        let frame = reply(Head::Value { call: 300 }, &"x").unwrap();
        let (head, value) = read_reply(BytesMut::from(body(&frame))).unwrap();
        assert_eq!(head, Head::Value { call: 300 });
        assert_eq!(postcard::from_bytes::<String>(&value).unwrap(), "x");
    }

    #[test]
    fn a_frame_over_the_limit_is_not_built() {
        let long = "x".repeat(MAX_FRAME);
        assert!(matches!(reply(Head::Wake, &long), Err(BadFrame::TooLong { .. })));
    }
}
