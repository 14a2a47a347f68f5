//! A result under its own names: copies made by the store itself.
//!
//! Promises that the store's own listing shows every file with its length before the call returns. Folders, links and
//! the executable bit are in the manifest; the bit is on the object, too. A file of several parts is read once, to know
//! its digest, and put together by the store where its parts are large enough. Copies of one part are not read again:
//! the store makes them, from what was checked when it was sealed.

use std::collections::BTreeMap;

use bytes::{Bytes, BytesMut};
use futures_util::stream::{self, StreamExt, TryStreamExt};
use http::Method;

use super::S3Target;
use super::client::Request;
use super::keys;
use super::read::{LIGHT, Sink};
use super::seal::count;
use super::upload::{Copied, LEAST_PIECE, Upload, piece_size};
use crate::manifest::{Digest, Entry, Manifest, Node, Part};
use crate::port::{StageId, TargetFault};

/// Above this the store copies in pieces, several at once. It takes up to 5 GiB in one.
const ONE_COPY: u64 = 1 << 30;
/// The size of such pieces; 5 TiB have 10,000 of 525 MiB.
const COPIED_PIECE: u64 = 256 << 20;

impl S3Target {
    pub(super) async fn lay_out_result(
        &self,
        stage: &StageId,
        manifest: &Manifest,
    ) -> Result<Manifest, TargetFault> {
        manifest.check_paths().map_err(|error| TargetFault::bad(format!("lay out a result: {error}")))?;
        keys::all_checked(manifest.parts())?;
        let out = format!("{}/", keys::out(stage));
        // A repeated call begins again: nothing refers to a half-laid result.
        self.delete_below(&out).await?;
        let (heavy, light): (Vec<_>, Vec<_>) =
            (0..manifest.entries.len()).partition(|place| is_heavy(&manifest.entries[*place].node));
        let mut laid = BTreeMap::new();
        for (places, at_once) in [(light, self.client.options.requests), (heavy, 1)] {
            let laying = stream::iter(places).map(|place| async move {
                Ok::<_, TargetFault>((place, self.lay_entry(stage, &manifest.entries[place]).await?))
            });
            let some: Vec<_> = laying.buffer_unordered(at_once).try_collect().await?;
            laid.extend(some);
        }
        let entries: Vec<Entry> = laid.into_values().collect();
        let laid = Manifest { entries };
        self.check_laid(&out, manifest, &laid).await?;
        Ok(laid)
    }

    async fn lay_entry(&self, stage: &StageId, entry: &Entry) -> Result<Entry, TargetFault> {
        let node = match &entry.node {
            Node::Folder | Node::Link { .. } => entry.node.clone(),
            Node::File { parts, executable } => {
                let room = self.client.options.prefix.len() + 1;
                let key = keys::of_result(stage, &entry.path, room);
                let parts = self.lay_file(&key, parts, *executable).await?;
                Node::File { parts, executable: *executable }
            }
        };
        Ok(Entry { path: entry.path.clone(), node })
    }

    async fn lay_file(&self, key: &str, parts: &[Part], executable: bool) -> Result<Vec<Part>, TargetFault> {
        let part = match parts {
            [] => {
                let label = self.label(Some(Digest::of(b"")), executable);
                self.client.put(key, Bytes::new(), &label).await?;
                return Ok(Vec::new());
            }
            [part] if part.length <= ONE_COPY => {
                self.copy_whole(key, part, executable).await?;
                Part { key: key.to_owned(), ..part.clone() }
            }
            [part] => {
                self.copy_pieces(key, part, executable).await?;
                Part { key: key.to_owned(), ..part.clone() }
            }
            _ => self.join(key, parts, executable).await?,
        };
        Ok(vec![part])
    }

    async fn copy_whole(&self, key: &str, part: &Part, executable: bool) -> Result<(), TargetFault> {
        let label = self.label(Some(part.digest), executable);
        let request = label.on(Request::new(Method::PUT, key)).handling(part.length / 8).xml();
        let request = request
            .header("x-amz-copy-source", self.client.copy_source(&part.key))
            .header("x-amz-metadata-directive", "REPLACE");
        match self.client.ask(&request).await {
            Ok(_) => Ok(()),
            Err(refusal) if refusal.is_missing() => {
                Err(TargetFault::bad(format!("the part {} is missing", part.key)))
            }
            Err(refusal) => Err(self.client.fault("copy a part to", key, refusal)),
        }
    }

    async fn copy_pieces(&self, key: &str, part: &Part, executable: bool) -> Result<(), TargetFault> {
        let etag = self.client.stat(part).await?;
        let from = Copied { key: &part.key, etag: etag.as_deref() };
        let label = self.label(Some(part.digest), executable);
        let mut upload = Upload::begin(&self.client, key, label).await?;
        let copied = copy_range(&mut upload, &from, (0, part.length)).await;
        finish(upload, copied).await
    }

    /// Puts several parts together. Small ones are gathered; of large ones the store copies what it can.
    async fn join(&self, key: &str, parts: &[Part], executable: bool) -> Result<Part, TargetFault> {
        let length: u64 = parts.iter().map(|part| part.length).sum();
        let size = piece_size(length);
        let mut joint = Joint::new(parts.len(), size);
        if length < size {
            for part in parts {
                self.pass(part, &mut joint).await?;
            }
            let digest = joint.digest();
            let label = self.label(Some(digest), executable);
            self.client.put(key, joint.gathered.freeze(), &label).await?;
            return Ok(Part { key: key.to_owned(), length, digest });
        }
        let mut upload = Upload::begin(&self.client, key, self.label(None, executable)).await?;
        let joined = self.join_pieces(&mut upload, parts, &mut joint).await;
        finish(upload, joined).await?;
        Ok(Part { key: key.to_owned(), length, digest: joint.digest() })
    }

    async fn join_pieces(
        &self,
        upload: &mut Upload,
        parts: &[Part],
        joint: &mut Joint,
    ) -> Result<(), TargetFault> {
        for part in parts {
            // So much of it must be gathered that what was gathered before can be sent.
            let lacking = match count(&joint.gathered) {
                0 => 0,
                gathered => LEAST_PIECE.saturating_sub(gathered),
            };
            let copied = part.length.saturating_sub(lacking);
            if copied < joint.least_copy {
                joint.keep = u64::MAX;
                let mut gathering = Gathering { joint: &mut *joint, upload: &mut *upload };
                self.pass(part, &mut gathering).await?;
                continue;
            }
            joint.keep = lacking;
            let etag = self.pass(part, joint).await?;
            joint.send(upload).await?;
            let from = Copied { key: &part.key, etag: etag.as_deref() };
            copy_range(upload, &from, (lacking, copied)).await?;
        }
        joint.send(upload).await
    }

    /// What lies there, by the store's own word: existence is never taken for completeness.
    async fn check_laid(&self, out: &str, asked: &Manifest, laid: &Manifest) -> Result<(), TargetFault> {
        if laid.files() == 0 {
            return Ok(());
        }
        let mut found = BTreeMap::new();
        self.each_below(out, |object| {
            found.insert(object.key, object.length);
        })
        .await?;
        for (before, after) in asked.entries.iter().zip(&laid.entries) {
            let (Node::File { parts: before, .. }, Node::File { parts: after, .. }) =
                (&before.node, &after.node)
            else {
                continue;
            };
            let Some(part) = after.first() else { continue };
            if found.get(&part.key) == Some(&part.length) {
                continue;
            }
            // Of a store whose listings lag behind.
            let seen = self.client.stat(part).await;
            seen.map_err(|fault| match before.as_slice() {
                [one] if fault.bad_data => {
                    TargetFault::bad(format!("{fault}; it was made of the part {}", one.key))
                }
                _ => fault,
            })?;
        }
        Ok(())
    }
}

/// Whether laying it out takes memory, so that several at once would take too much.
fn is_heavy(node: &Node) -> bool {
    let Node::File { parts, .. } = node else { return false };
    parts.len() > 1 && parts.iter().map(|part| part.length).sum::<u64>() > LIGHT
}

async fn finish(mut upload: Upload, done: Result<(), TargetFault>) -> Result<(), TargetFault> {
    match done {
        Ok(()) => upload.complete().await,
        Err(fault) => {
            upload.abort().await;
            Err(fault)
        }
    }
}

/// In pieces, none of them too small: the last takes what is left over.
async fn copy_range(
    upload: &mut Upload,
    from: &Copied<'_>,
    (mut begin, mut length): (u64, u64),
) -> Result<(), TargetFault> {
    let size = COPIED_PIECE.max(piece_size(length));
    while length > 0 {
        let piece = if length < size + LEAST_PIECE { length } else { size };
        upload.copy(from, begin, piece).await?;
        begin += piece;
        length -= piece;
    }
    Ok(())
}

/// Bytes of several parts on their way into one object.
struct Joint {
    hasher: blake3::Hasher,
    gathered: BytesMut,
    /// How many more bytes of the part to gather; the rest is only digested.
    keep: u64,
    /// When to send what was gathered.
    enough: u64,
    /// From what length on the store copies.
    least_copy: u64,
}

/// With fewer parts even one piece for each and one between them is far from the most that an object may have.
const FEW_PARTS: usize = 2000;

impl Joint {
    fn new(parts: usize, piece: u64) -> Self {
        // A copied piece may come before each that was gathered: twice the size, so that there are not too many.
        let enough = 2 * piece;
        let least_copy = if parts < FEW_PARTS { LEAST_PIECE } else { enough };
        let (hasher, gathered) = (blake3::Hasher::new(), BytesMut::new());
        Self { hasher, gathered, keep: u64::MAX, enough, least_copy }
    }

    fn digest(&self) -> Digest {
        Digest(*self.hasher.finalize().as_bytes())
    }

    async fn send(&mut self, upload: &mut Upload) -> Result<(), TargetFault> {
        if !self.gathered.is_empty() {
            upload.piece(self.gathered.split().freeze()).await?;
        }
        Ok(())
    }
}

#[async_trait::async_trait]
impl Sink for Joint {
    async fn take(&mut self, bytes: Bytes) -> Result<(), TargetFault> {
        self.hasher.update(&bytes);
        let kept = usize::try_from(self.keep).unwrap_or(usize::MAX).min(bytes.len());
        self.gathered.extend_from_slice(&bytes[..kept]);
        self.keep = self.keep.saturating_sub(count(&bytes[..kept]));
        Ok(())
    }
}

struct Gathering<'a> {
    joint: &'a mut Joint,
    upload: &'a mut Upload,
}

#[async_trait::async_trait]
impl Sink for Gathering<'_> {
    async fn take(&mut self, bytes: Bytes) -> Result<(), TargetFault> {
        self.joint.take(bytes).await?;
        if count(&self.joint.gathered) < self.joint.enough {
            return Ok(());
        }
        self.joint.send(self.upload).await
    }
}
