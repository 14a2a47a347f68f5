//! s3s-fs behind a mutex, with what it lacks: keys of any form and length, unfinished uploads that can be listed.
//!
//! Promises that one request is carried out after another, so that a condition and the write it guards are one step.
//! s3s-fs makes a file's path of a key, so that `a` and `a/b` cannot both be: here each object lies under the digest of
//! its key, and beside it a file says which key that is.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::ops::Bound;
use std::path::{Path, PathBuf};
use std::sync::PoisonError;
use std::time::SystemTime;

use bytes::Bytes;
use futures_util::TryStreamExt as _;
use s3s::dto::{StreamingBlob, Timestamp};
use s3s::{S3Error, S3Result, s3_error};
use s3s_fs::FileSystem;
use tokio::sync::{Mutex, MutexGuard};

mod operations;

/// The most that one listing answers.
const PAGE: usize = 1000;

/// An upload that was begun.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Upload {
    key: String,
    id: String,
    begun: SystemTime,
}

/// What lies where: each object's key (`bucket/key`), and the uploads by their id.
#[derive(Debug, Default)]
struct Index {
    keys: BTreeMap<String, ()>,
    uploads: BTreeMap<String, Upload>,
}

/// Objects in a folder.
#[derive(Debug)]
pub struct Store {
    inner: FileSystem,
    folder: PathBuf,
    index: std::sync::Mutex<Index>,
    turn: Mutex<()>,
}

fn stored(key: &str) -> String {
    blake3::hash(key.as_bytes()).to_hex().to_string()
}

fn failed(error: impl std::error::Error + Send + Sync + 'static) -> S3Error {
    s3_error!(error, InternalError)
}

impl Store {
    /// Opens a folder, which is made if need be, with these buckets.
    ///
    /// # Errors
    /// When the folder cannot be read or written.
    pub fn open(folder: &Path, buckets: impl IntoIterator<Item = String>) -> io::Result<Self> {
        let objects = folder.join("objects");
        for made in ["keys", "uploads"] {
            fs::create_dir_all(folder.join(made))?;
        }
        fs::create_dir_all(&objects)?;
        for bucket in buckets {
            fs::create_dir_all(objects.join(bucket))?;
        }
        let mut index = Index::default();
        for entry in fs::read_dir(folder.join("keys"))? {
            index.keys.insert(fs::read_to_string(entry?.path())?, ());
        }
        for entry in fs::read_dir(folder.join("uploads"))? {
            let entry = entry?;
            let id = entry.file_name().to_string_lossy().into_owned();
            let key = fs::read_to_string(entry.path())?;
            index.uploads.insert(id.clone(), Upload { key, id, begun: entry.metadata()?.modified()? });
        }
        let inner = FileSystem::new(&objects).map_err(|error| io::Error::other(format!("{error:?}")))?;
        Ok(Self {
            inner,
            folder: folder.to_owned(),
            index: std::sync::Mutex::new(index),
            turn: Mutex::new(()),
        })
    }

    async fn turn(&self) -> MutexGuard<'_, ()> {
        self.turn.lock().await
    }

    fn index(&self) -> std::sync::MutexGuard<'_, Index> {
        self.index.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Called before the object is written: a key without an object is not listed, an object without a key would be lost.
    fn remember(&self, bucket: &str, key: &str) -> S3Result<()> {
        let whole = format!("{bucket}/{key}");
        if !self.index().keys.contains_key(&whole) {
            fs::write(self.folder.join("keys").join(stored(&whole)), &whole).map_err(failed)?;
            self.index().keys.insert(whole, ());
        }
        Ok(())
    }

    fn forget(&self, bucket: &str, key: &str) -> S3Result<()> {
        let whole = format!("{bucket}/{key}");
        if self.index().keys.remove(&whole).is_some() {
            fs::remove_file(self.folder.join("keys").join(stored(&whole))).map_err(failed)?;
        }
        Ok(())
    }

    fn begin(&self, bucket: &str, key: &str, id: &str) -> S3Result<()> {
        let key = format!("{bucket}/{key}");
        fs::write(self.folder.join("uploads").join(id), &key).map_err(failed)?;
        self.index()
            .uploads
            .insert(id.to_owned(), Upload { key, id: id.to_owned(), begun: SystemTime::now() });
        Ok(())
    }

    fn end(&self, id: &str) -> S3Result<()> {
        if self.index().uploads.remove(id).is_some() {
            fs::remove_file(self.folder.join("uploads").join(id)).map_err(failed)?;
        }
        Ok(())
    }

    fn is_begun(&self, id: &str) -> S3Result<()> {
        if self.index().uploads.contains_key(id) { Ok(()) } else { Err(s3_error!(NoSuchUpload)) }
    }

    /// One more than a page of the keys of a bucket, without the bucket's name.
    fn keys(&self, bucket: &str, prefix: &str, after: &str, count: usize) -> Vec<String> {
        let begin = format!("{bucket}/{}", if after > prefix { after } else { prefix });
        let whole = format!("{bucket}/{prefix}");
        let bound = if after >= prefix && !after.is_empty() {
            Bound::Excluded(begin)
        } else {
            Bound::Included(begin)
        };
        let index = self.index();
        let found = index.keys.range((bound, Bound::Unbounded)).map(|(key, ())| key);
        found
            .take_while(|key| key.starts_with(&whole))
            .take(count + 1)
            .map(|key| key[bucket.len() + 1..].to_owned())
            .collect()
    }

    /// s3s-fs takes an object of no bucket for one that is missing.
    fn has(&self, bucket: &str) -> S3Result<()> {
        if self.folder.join("objects").join(bucket).is_dir() { Ok(()) } else { Err(s3_error!(NoSuchBucket)) }
    }

    fn path(&self, bucket: &str, key: &str) -> PathBuf {
        self.folder.join("objects").join(bucket).join(stored(key))
    }
}

fn time(at: SystemTime) -> Timestamp {
    Timestamp::from(at)
}

/// Taken in whole before its turn, so that a peer that stops in the middle stops nobody else.
async fn whole(body: Option<StreamingBlob>) -> S3Result<Option<StreamingBlob>> {
    let Some(body) = body else { return Ok(None) };
    let pieces: Vec<Bytes> =
        body.try_collect().await.map_err(|error| s3_error!(IncompleteBody, "the body broke off: {error}"))?;
    let pieces = pieces.into_iter().map(Ok::<_, io::Error>);
    Ok(Some(StreamingBlob::wrap(futures_util::stream::iter(pieces))))
}
