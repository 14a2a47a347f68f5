//! Parts: taken from a file or from memory, digested on the way.
//!
//! Promises bounded memory: of a file at most 64 MiB are held, or three pieces where a piece is larger (525 MiB for a
//! file of 5 TiB).

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use bytes::Bytes;

use super::S3Target;
use super::keys;
use super::upload::{Upload, piece_size};
use super::write::Label;
use crate::manifest::{Digest, Part};
use crate::port::{StageId, TargetFault};

/// A file that is read piece by piece beside the async tasks.
struct Source {
    file: File,
    hasher: blake3::Hasher,
}

impl Source {
    fn read(mut self, most: u64) -> io::Result<(Self, Bytes)> {
        let mut piece = Vec::with_capacity(usize::try_from(most.min(8 << 20)).map_err(io::Error::other)?);
        (&mut self.file).take(most).read_to_end(&mut piece)?;
        self.hasher.update(&piece);
        Ok((self, piece.into()))
    }
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> io::Result<T> + Send + 'static) -> io::Result<T> {
    tokio::task::spawn_blocking(work).await.map_err(io::Error::other)?
}

impl S3Target {
    pub(super) async fn seal_from(
        &self,
        stage: &StageId,
        number: u64,
        path: &Path,
    ) -> Result<Part, TargetFault> {
        let unread = |error| TargetFault::new(format!("read {}", path.display()), error);
        let key = keys::of_part(stage, number);
        let opened = path.to_owned();
        let (source, size) = blocking(move || {
            let file = File::open(opened)?;
            let size = piece_size(file.metadata()?.len());
            Ok((Source { file, hasher: blake3::Hasher::new() }, size))
        })
        .await
        .map_err(unread)?;
        let (mut source, mut piece) = blocking(move || source.read(size)).await.map_err(unread)?;
        let mut length = count(&piece);
        if length < size {
            let digest = Digest(*source.hasher.finalize().as_bytes());
            self.client.put(&key, piece, &self.label(Some(digest), false)).await?;
            return Ok(Part { key, length, digest });
        }
        // The digest is not known yet: the file is read once, and whole only at the end.
        let mut upload = Upload::begin(&self.client, &key, self.label(None, false)).await?;
        while !piece.is_empty() {
            upload.piece(piece).await?;
            (source, piece) = blocking(move || source.read(size)).await.map_err(unread)?;
            length += count(&piece);
        }
        upload.complete().await?;
        Ok(Part { key, length, digest: Digest(*source.hasher.finalize().as_bytes()) })
    }

    pub(super) async fn seal_from_memory(
        &self,
        stage: &StageId,
        number: u64,
        bytes: Vec<u8>,
    ) -> Result<Part, TargetFault> {
        let (key, length, digest) = (keys::of_part(stage, number), count(&bytes), Digest::of(&bytes));
        let (mut bytes, label) = (Bytes::from(bytes), self.label(Some(digest), false));
        let size = piece_size(length);
        if length < size {
            self.client.put(&key, bytes, &label).await?;
        } else {
            let mut upload = Upload::begin(&self.client, &key, label).await?;
            while !bytes.is_empty() {
                let end = bytes.len().min(usize::try_from(size).unwrap_or(usize::MAX));
                upload.piece(bytes.split_to(end)).await?;
            }
            upload.complete().await?;
        }
        Ok(Part { key, length, digest })
    }

    pub(super) fn label(&self, digest: Option<Digest>, executable: bool) -> Label {
        Label { mark: self.marks.next(), digest, executable }
    }
}

pub(super) fn count(bytes: &[u8]) -> u64 {
    u64::try_from(bytes.len()).unwrap_or(u64::MAX)
}
