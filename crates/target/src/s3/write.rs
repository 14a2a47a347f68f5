//! Writing one object, so that it is known afterwards whose bytes lie there.
//!
//! Promises that a write that was acknowledged is not replaced by an earlier one that arrives late: each is made on the
//! condition that nothing, or just what was looked at, lies under the key. A refused condition and a lost reply look
//! alike, so both are answered by reading back: each write carries a mark of its own. Where a store knows no
//! conditions (`conditional=false`) the last to arrive wins.

use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use http::Method;

use super::client::{Client, Refusal, Reply, Request};
use crate::manifest::Digest;
use crate::port::TargetFault;

/// Names the write that made an object.
const MARK: &str = "x-amz-meta-remora-write";
/// The digest of its bytes, where it was known before they were sent.
const DIGEST: &str = "x-amz-meta-remora-blake3";
pub(super) const EXECUTABLE: &str = "x-amz-meta-remora-executable";

/// How often an object is looked at and replaced before somebody else must be at work there.
const ROUNDS: u32 = 5;

/// Gives each write its mark.
#[derive(Debug)]
pub(super) struct Marks {
    room: String,
    next: AtomicU64,
}

impl Marks {
    pub(super) fn new() -> Self {
        let room: String = super::client::random().iter().map(|byte| format!("{byte:02x}")).collect();
        Self { room, next: AtomicU64::new(0) }
    }

    pub(super) fn next(&self) -> String {
        format!("{}-{}", self.room, self.next.fetch_add(1, Ordering::Relaxed))
    }
}

/// What a write says of itself.
#[derive(Debug, Clone)]
pub(super) struct Label {
    pub mark: String,
    pub digest: Option<Digest>,
    pub executable: bool,
}

impl Label {
    pub(super) fn on(&self, mut request: Request) -> Request {
        request = request.header(MARK, &self.mark);
        if let Some(digest) = self.digest {
            request = request.header(DIGEST, digest.to_string());
        }
        if self.executable { request.header(EXECUTABLE, "true") } else { request }
    }
}

/// The condition of a write.
#[derive(Debug, Clone)]
enum Condition {
    Nothing,
    Just(String),
    None,
}

impl Condition {
    fn on(&self, request: Request) -> Request {
        match self {
            Self::Nothing => request.header("if-none-match", "*"),
            Self::Just(etag) => request.header("if-match", etag),
            Self::None => request,
        }
    }
}

/// Whether a refused write may have been carried out before, or under another condition can be.
fn reads_back(refusal: &Refusal) -> bool {
    // 404: the upload is complete already, or what was to be replaced is gone; 409: somebody writes at this moment.
    matches!(refusal.status(), 404 | 409 | 412) && refusal.code() != "NoSuchBucket"
}

impl Client {
    /// What lies under a key now; `None`: nothing.
    pub(super) async fn look(&self, key: &str) -> Result<Option<Reply>, Refusal> {
        match self.ask(&Request::new(Method::HEAD, key)).await {
            Ok(reply) => Ok(Some(reply)),
            // A HEAD has no body that would say whether it is the bucket that is not there.
            Err(refusal) if refusal.status() == 404 => {
                let get = Request::new(Method::GET, key).header("range", "bytes=0-0");
                match self.ask(&get).await {
                    Ok(reply) => Ok(Some(reply)),
                    Err(refusal) if refusal.is_missing() => Ok(None),
                    Err(refusal) => Err(refusal),
                }
            }
            Err(refusal) => Err(refusal),
        }
    }

    /// Writes one object in one request.
    pub(super) async fn put(&self, key: &str, bytes: Bytes, label: &Label) -> Result<(), TargetFault> {
        let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        let request = label.on(Request::new(Method::PUT, key)).body(bytes);
        self.write(key, &request, (label, length)).await
    }

    /// Carries out a write whatever lay there: a PUT, or the completion of an upload.
    pub(super) async fn write(
        &self,
        key: &str,
        request: &Request,
        (label, length): (&Label, u64),
    ) -> Result<(), TargetFault> {
        let fault = |refusal| self.fault("write", key, refusal);
        let mut condition = if self.options.conditional { Condition::Nothing } else { Condition::None };
        let mut round = 1;
        loop {
            let refusal = match self.ask(&condition.on(request.clone())).await {
                Ok(_) => return Ok(()),
                Err(refusal) => refusal,
            };
            if !reads_back(&refusal) || round == ROUNDS {
                return Err(fault(refusal));
            }
            round += 1;
            let found = self.look(key).await.map_err(fault)?;
            match found {
                Some(found) if is_ours(&found, label, length) => return Ok(()),
                _ if refusal.code() == "NoSuchUpload" => return Err(fault(refusal)),
                Some(found) => condition = self.just(&found),
                None if matches!(condition, Condition::None) => return Err(fault(refusal)),
                None => condition = Condition::Nothing,
            }
        }
    }

    fn just(&self, found: &Reply) -> Condition {
        match found.header("etag") {
            Some(etag) if self.options.conditional => Condition::Just(etag.to_owned()),
            _ => Condition::None,
        }
    }
}

/// The mark says that this very write made it; the digest, that another one with the same bytes did.
fn is_ours(found: &Reply, label: &Label, length: u64) -> bool {
    let marked = found.header(MARK) == Some(label.mark.as_str());
    let same = label.digest.is_some_and(|digest| found.header(DIGEST) == Some(digest.to_string().as_str()));
    (marked || same) && found.object_length() == Some(length)
}
