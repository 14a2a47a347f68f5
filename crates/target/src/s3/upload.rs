//! An object in pieces: a multipart upload.
//!
//! Promises that one that is given up is aborted, also when the work on it is dropped in the middle; what a killed
//! process leaves is found by the sweep of its stage.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use bytes::Bytes;
use http::Method;
use tokio::task::JoinSet;

use super::client::{Client, Refusal, Request};
use super::write::Label;
use super::xml;
use crate::port::TargetFault;

/// The least that S3 takes for any piece but the last.
pub(super) const LEAST_PIECE: u64 = 5 << 20;
/// A piece, unless the object would then have more than [`MOST_PIECES`].
const PIECE: u64 = 8 << 20;
const MOST_PIECES: u64 = 10_000;
/// What all pieces that are under way take together, where more than one is.
const UNDER_WAY: u64 = 48 << 20;

/// The size of the pieces of an object of this length: 10,000 of them reach the 5 TiB that S3 takes.
pub(super) fn piece_size(length: u64) -> u64 {
    PIECE.max(length.div_ceil(MOST_PIECES).next_multiple_of(1 << 20))
}

type Answer = Result<(u32, String), Refusal>;

/// An upload that is under way.
#[derive(Debug)]
pub(super) struct Upload {
    client: Arc<Client>,
    key: String,
    id: String,
    label: Label,
    next: u32,
    length: u64,
    under_way: JoinSet<Answer>,
    written: BTreeMap<u32, String>,
    ended: bool,
}

impl Upload {
    pub(super) async fn begin(client: &Arc<Client>, key: &str, label: Label) -> Result<Self, TargetFault> {
        let request = label.on(Request::new(Method::POST, key).query("uploads", "")).xml();
        let reply =
            client.ask(&request).await.map_err(|refusal| client.fault("begin an upload of", key, refusal))?;
        let Some(begun) = xml::read::<xml::Initiated>(&reply.body) else {
            return Err(unreadable("begin an upload of", key));
        };
        Ok(Self {
            client: Arc::clone(client),
            key: key.to_owned(),
            id: begun.upload_id,
            label,
            next: 1,
            length: 0,
            under_way: JoinSet::new(),
            written: BTreeMap::new(),
            ended: false,
        })
    }

    /// Sends a piece; returns when there is room for the next.
    pub(super) async fn piece(&mut self, bytes: Bytes) -> Result<(), TargetFault> {
        let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        let request = self.numbered().body(bytes);
        let at_once = usize::try_from(UNDER_WAY / length.max(1)).unwrap_or(usize::MAX);
        self.send(request, length, at_once).await
    }

    /// Copies a piece from another object, as long as that is the one that was looked at.
    pub(super) async fn copy(
        &mut self,
        from: &Copied<'_>,
        begin: u64,
        length: u64,
    ) -> Result<(), TargetFault> {
        let range = format!("bytes={begin}-{}", begin + length - 1);
        let mut request = self.numbered().xml().handling(length / 8);
        request = request.header("x-amz-copy-source", self.client.copy_source(from.key));
        request = request.header("x-amz-copy-source-range", range);
        if let Some(etag) = from.etag {
            request = request.header("x-amz-copy-source-if-match", etag);
        }
        let at_once = self.client.options.requests;
        self.send(request, length, at_once).await
    }

    fn numbered(&self) -> Request {
        let request = Request::new(Method::PUT, &self.key).query("partNumber", self.next.to_string());
        request.query("uploadId", &self.id)
    }

    async fn send(&mut self, request: Request, length: u64, at_once: usize) -> Result<(), TargetFault> {
        let at_once = at_once.clamp(1, self.client.options.requests);
        while self.under_way.len() >= at_once {
            self.take_one().await?;
        }
        let (client, number) = (Arc::clone(&self.client), self.next);
        self.next += 1;
        self.length += length;
        self.under_way.spawn(async move {
            let reply = client.ask(&request).await?;
            let etag = match reply.header("etag") {
                Some(etag) if !request.xml => Some(etag.to_owned()),
                _ => xml::read::<xml::Written>(&reply.body).map(|written| written.etag),
            };
            Ok((number, etag.unwrap_or_default()))
        });
        Ok(())
    }

    async fn take_one(&mut self) -> Result<(), TargetFault> {
        match self.under_way.join_next().await {
            Some(Ok(Ok((number, etag)))) => {
                self.written.insert(number, etag);
                Ok(())
            }
            Some(Ok(Err(refusal))) if refusal.status() == 412 || refusal.code() == "NoSuchKey" => {
                Err(TargetFault::bad(format!("what {} is copied from changed or went: {refusal}", self.key)))
            }
            Some(Ok(Err(refusal))) => Err(self.client.fault("write a piece of", &self.key, refusal)),
            Some(Err(error)) => Err(TargetFault::new("finish an upload", io::Error::other(error))),
            None => Ok(()),
        }
    }

    /// Makes the pieces an object.
    pub(super) async fn complete(mut self) -> Result<(), TargetFault> {
        let done = self.try_complete().await;
        if done.is_err() {
            self.abort().await;
        }
        self.ended = true;
        done
    }

    async fn try_complete(&mut self) -> Result<(), TargetFault> {
        while !self.under_way.is_empty() {
            self.take_one().await?;
        }
        let body = xml::complete(self.written.iter().map(|(number, etag)| (*number, etag.as_str())));
        let request = Request::new(Method::POST, &self.key).query("uploadId", &self.id);
        let request = request.body(body).handling(self.length / 64).xml();
        self.client.write(&self.key, &request, (&self.label, self.length)).await
    }

    /// Gives it up; what cannot be aborted now is left to a sweep.
    pub(super) async fn abort(&mut self) {
        self.ended = true;
        self.under_way.shutdown().await;
        let _ = self.client.abort(&self.key, &self.id).await;
    }
}

impl Drop for Upload {
    fn drop(&mut self) {
        if self.ended {
            return;
        }
        let (client, key, id) = (Arc::clone(&self.client), self.key.clone(), self.id.clone());
        // Pieces on the wire may arrive after the abort; they are part of no object, and the stage's sweep looks again.
        self.under_way.abort_all();
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move { client.abort(&key, &id).await });
        }
    }
}

/// What is copied from.
#[derive(Debug, Clone, Copy)]
pub(super) struct Copied<'a> {
    pub key: &'a str,
    pub etag: Option<&'a str>,
}

pub(super) fn unreadable(doing: &str, key: &str) -> TargetFault {
    TargetFault::new(format!("{doing} {key}"), io::Error::other("the store's answer cannot be read"))
}

impl Client {
    pub(super) async fn abort(&self, key: &str, id: &str) -> Result<(), TargetFault> {
        match self.ask(&Request::new(Method::DELETE, key).query("uploadId", id)).await {
            Err(refusal) if !refusal.is_missing() => Err(self.fault("abort an upload of", key, refusal)),
            _ => Ok(()),
        }
    }

    pub(super) fn copy_source(&self, key: &str) -> String {
        super::keys::escape(&format!("{}/{}", self.options.bucket, self.options.whole(key)), b"/~")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_thousand_pieces_reach_five_tebibytes_and_are_no_smaller_than_s3_takes() {
        for length in [0, 1, PIECE, 80 << 30, (80 << 30) + 1, 1 << 40, 5 << 40] {
            let piece = piece_size(length);
            assert!((LEAST_PIECE..=5 << 30).contains(&piece), "{length}");
            assert!(length.div_ceil(piece) <= MOST_PIECES, "{length}");
        }
        assert_eq!((piece_size(1), piece_size(5 << 40)), (8 << 20, 525 << 20));
    }
}
