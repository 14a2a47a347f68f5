//! Reading parts: in ranges, several at once, in order, every digest checked.
//!
//! Promises that all ranges are of the object that the first was of (`If-Match`), and bounded memory: four ranges of
//! 8 MiB for a part, and of parts that are read at the same time 64 MiB.

use std::io;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::stream::{self, BoxStream, StreamExt, TryStreamExt};
use http::Method;
use tokio::fs::OpenOptions;
use tokio::io::AsyncWriteExt;

use super::S3Target;
use super::client::{Client, Refusal, Reply, Request};
use super::keys;
use super::seal::count;
use crate::manifest::{Digest, Part};
use crate::port::{Depth, TargetFault};

pub(super) const RANGE_BYTES: u64 = 8 << 20;
const RANGES: usize = 4;
/// Up to this, many are read at once.
pub(super) const LIGHT: u64 = 1 << 20;
pub(super) const HEAVY_AT_ONCE: usize = 2;

/// Whether verifying it takes memory.
pub(super) fn is_heavy(part: &Part, depth: Depth) -> bool {
    match depth {
        Depth::UpTo(bytes) => part.length > LIGHT && part.length <= bytes,
        Depth::All => part.length > LIGHT,
    }
}

/// A part that was looked at: it is there and has its length.
pub(super) struct Opened {
    pub etag: Option<String>,
    first: Bytes,
}

fn missing(key: &str) -> TargetFault {
    TargetFault::bad(format!("the part {key} is missing"))
}

fn other_length(part: &Part, length: u64) -> TargetFault {
    TargetFault::bad(format!("the part {} has {length} bytes and should have {}", part.key, part.length))
}

fn other_digest(part: &Part, digest: Digest) -> TargetFault {
    TargetFault::bad(format!("the part {} has the digest {digest} and should have {}", part.key, part.digest))
}

impl Client {
    /// A range of an object, as long as it is still the one that was looked at.
    pub(super) async fn range(
        &self,
        key: &str,
        (begin, length): (u64, u64),
        etag: Option<&str>,
    ) -> Result<Reply, Refusal> {
        let mut request = Request::new(Method::GET, key);
        request = request.header("range", format!("bytes={begin}-{}", begin + length - 1));
        if let Some(etag) = etag {
            request = request.header("if-match", etag);
        }
        self.ask(&request).await
    }

    /// Existence and length, by looking alone.
    pub(super) async fn stat(&self, part: &Part) -> Result<Option<String>, TargetFault> {
        let key = keys::checked(&part.key)?;
        let found = self.look(key).await.map_err(|refusal| self.fault("look at", key, refusal))?;
        let Some(found) = found else { return Err(missing(key)) };
        match found.object_length() {
            Some(length) if length == part.length => Ok(found.header("etag").map(str::to_owned)),
            length => Err(other_length(part, length.unwrap_or(0))),
        }
    }

    /// Existence, length and the first range, in one request.
    pub(super) async fn open_part(&self, part: &Part) -> Result<Opened, TargetFault> {
        let key = keys::checked(&part.key)?;
        if part.length == 0 {
            return Ok(Opened { etag: self.stat(part).await?, first: Bytes::new() });
        }
        let asked = part.length.min(RANGE_BYTES);
        match self.range(key, (0, asked), None).await {
            Ok(reply) => match reply.object_length() {
                Some(length) if length != part.length => Err(other_length(part, length)),
                _ if count(&reply.body) == asked => {
                    Ok(Opened { etag: reply.header("etag").map(str::to_owned), first: reply.body })
                }
                _ => Err(other_length(part, count(&reply.body))),
            },
            Err(refusal) if refusal.is_missing() => Err(missing(key)),
            // Not satisfiable: it is empty.
            Err(refusal) if refusal.status() == 416 => Err(other_length(part, 0)),
            Err(refusal) => Err(self.fault("read", key, refusal)),
        }
    }

    async fn next_range(
        &self,
        part: &Part,
        (begin, length): (u64, u64),
        etag: Option<&str>,
    ) -> Result<Bytes, TargetFault> {
        match self.range(&part.key, (begin, length), etag).await {
            Ok(reply) if count(&reply.body) == length => Ok(reply.body),
            Ok(reply) => Err(other_length(part, begin + count(&reply.body))),
            Err(refusal) if refusal.is_missing() => Err(missing(&part.key)),
            Err(refusal) if matches!(refusal.status(), 412 | 416) => {
                Err(TargetFault::bad(format!("the part {} changed while it was read", part.key)))
            }
            Err(refusal) => Err(self.fault("read", &part.key, refusal)),
        }
    }
}

/// The rest of a part behind its first range.
fn rest<'a>(
    client: &'a Arc<Client>,
    part: &'a Part,
    etag: Option<&'a str>,
) -> BoxStream<'a, Result<Bytes, TargetFault>> {
    let begins = (1..part.length.div_ceil(RANGE_BYTES)).map(|number| number * RANGE_BYTES);
    let ranges = begins.map(move |begin| (begin, RANGE_BYTES.min(part.length - begin)));
    stream::iter(ranges).map(move |range| client.next_range(part, range, etag)).buffered(RANGES - 1).boxed()
}

/// Takes the bytes of a part, in order.
#[async_trait::async_trait]
pub(super) trait Sink: Send {
    async fn take(&mut self, bytes: Bytes) -> Result<(), TargetFault>;
}

/// Only the digest is wanted.
pub(super) struct Nowhere;

#[async_trait::async_trait]
impl Sink for Nowhere {
    async fn take(&mut self, _: Bytes) -> Result<(), TargetFault> {
        Ok(())
    }
}

#[async_trait::async_trait]
impl Sink for Vec<u8> {
    async fn take(&mut self, bytes: Bytes) -> Result<(), TargetFault> {
        self.extend_from_slice(&bytes);
        Ok(())
    }
}

struct Local<'a> {
    path: &'a Path,
    file: tokio::fs::File,
}

impl Local<'_> {
    fn unwritten(&self, error: io::Error) -> TargetFault {
        TargetFault::new(format!("write {}", self.path.display()), error)
    }
}

#[async_trait::async_trait]
impl Sink for Local<'_> {
    async fn take(&mut self, bytes: Bytes) -> Result<(), TargetFault> {
        self.file.write_all(&bytes).await.map_err(|error| self.unwritten(error))
    }
}

impl S3Target {
    /// Hands all of a part on and checks it; what was handed on is worth nothing when this fails.
    pub(super) async fn pass(&self, part: &Part, to: &mut dyn Sink) -> Result<Option<String>, TargetFault> {
        let Opened { etag, first } = self.client.open_part(part).await?;
        let mut hasher = blake3::Hasher::new();
        hasher.update(&first);
        to.take(first).await?;
        let mut pieces = rest(&self.client, part, etag.as_deref());
        while let Some(piece) = pieces.try_next().await? {
            hasher.update(&piece);
            to.take(piece).await?;
        }
        drop(pieces);
        let digest = Digest(*hasher.finalize().as_bytes());
        if digest == part.digest { Ok(etag) } else { Err(other_digest(part, digest)) }
    }

    pub(super) async fn verify_part(&self, part: &Part, depth: Depth) -> Result<(), TargetFault> {
        match depth {
            Depth::UpTo(bytes) if part.length > bytes => self.client.stat(part).await.map(drop),
            Depth::UpTo(_) | Depth::All => self.pass(part, &mut Nowhere).await.map(drop),
        }
    }

    pub(super) async fn copy_out(
        &self,
        parts: &[Part],
        to: &Path,
        executable: bool,
    ) -> Result<(), TargetFault> {
        let unmade = |error| TargetFault::new(format!("make {}", to.display()), error);
        match tokio::fs::remove_file(to).await {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(unmade(error)),
            _ => {}
        }
        let mode = if executable { 0o755 } else { 0o644 };
        let made = OpenOptions::new().write(true).create_new(true).mode(mode).open(to).await;
        let mut local = Local { path: to, file: made.map_err(unmade)? };
        let copied = self.fill(parts, &mut local).await;
        if copied.is_err() {
            // Nobody shall find half a file, or a wrong one, under that name.
            let _ = tokio::fs::remove_file(to).await;
        }
        copied
    }

    async fn fill(&self, parts: &[Part], local: &mut Local<'_>) -> Result<(), TargetFault> {
        for part in parts {
            self.pass(part, local).await?;
        }
        local.file.flush().await.map_err(|error| local.unwritten(error))
    }
}
