//! The port of the room.

use std::collections::BTreeSet;
use std::error::Error;
use std::fmt;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use protocol::{AttemptId, JobId, TargetId, Token};

use crate::manifest::{Manifest, Part};

/// Where an attempt writes; its identity is the attempt's (protocol rule 4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StageId {
    /// The job.
    pub job: JobId,
    /// The attempt's token.
    pub token: Token,
    /// The attempt.
    pub attempt: AttemptId,
}

impl StageId {
    /// `<job>/<token>-<attempt>`.
    #[must_use]
    pub fn prefix(&self) -> String {
        format!("{}/{}", self.job, self.name())
    }

    /// `<token>-<attempt>`.
    #[must_use]
    pub fn name(&self) -> String {
        format!("{}-{}", self.token, self.attempt)
    }
}

/// How closely to verify parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// Existence and length of all, and the digest of those up to this many bytes.
    UpTo(u64),
    /// The digest of all.
    All,
}

/// What a sweep did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sweep {
    /// Objects deleted.
    pub deleted: u64,
    /// Objects kept because something refers to them.
    pub kept: u64,
}

/// The room could not do it.
#[derive(Debug)]
pub struct TargetFault {
    /// Operation and object.
    pub doing: String,
    /// Whether the data itself is wrong: missing, short or of another digest. Asking again does not help.
    pub bad_data: bool,
    source: Option<io::Error>,
}

impl TargetFault {
    /// A failed operation.
    pub fn new(doing: impl Into<String>, source: io::Error) -> Self {
        Self { doing: doing.into(), bad_data: false, source: Some(source) }
    }

    /// Data that is not what its part says.
    pub fn bad(doing: impl Into<String>) -> Self {
        Self { doing: doing.into(), bad_data: true, source: None }
    }

    /// Whether the place has no space left.
    #[must_use]
    pub fn out_of_space(&self) -> bool {
        self.source.as_ref().is_some_and(|source| {
            matches!(source.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
        })
    }
}

impl fmt::Display for TargetFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.bad_data { f.write_str(&self.doing) } else { write!(f, "cannot {}", self.doing) }
    }
}

impl Error for TargetFault {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_ref().map(|source| source as &(dyn Error + 'static))
    }
}

/// Takes the log of an attempt. Writing never blocks the program for long and never fails the attempt:
/// what cannot be written is dropped and counted.
#[async_trait]
pub trait LogSink: Send {
    /// Appends bytes. Over [`protocol::limit::LOG_BYTES`] the head and the tail are kept.
    fn append(&mut self, bytes: &[u8]);

    /// Returns when what was appended can be read, or the room has refused it for as long as it repeats a request.
    /// What is appended without it can be read soon.
    async fn flush(&mut self);
}

/// Reads a log from its beginning and goes on where it stopped.
#[async_trait]
pub trait LogReader: Send {
    /// What has been written since the last call; empty when nothing was, or nothing ever.
    async fn read_more(&mut self) -> io::Result<Vec<u8>>;
}

/// A file of a result, read from its beginning or a range's.
#[async_trait]
pub trait ResultFile: Send {
    /// How long the whole file is.
    fn length(&self) -> u64;

    /// The next piece, of at most 8 MiB; `None` at the end. No digest is checked: of a range there is none, and who
    /// reads all can compare with the manifest's.
    async fn next(&mut self) -> Result<Option<Bytes>, TargetFault>;
}

/// That a path is one of an output.
pub(crate) fn inside(path: &str) -> Result<(), TargetFault> {
    if path.split('/').any(|name| matches!(name, "" | "." | "..")) {
        return Err(TargetFault::bad(format!("the path {path:?} is not one of a result")));
    }
    Ok(())
}

/// Parts, stages, results, logs.
#[async_trait]
pub trait Target: Send + Sync {
    /// `AdvanceAttempt`: copies a local file into a new part of the stage and makes it durable.
    async fn seal_file(
        &self,
        stage: &StageId,
        number: u64,
        source: &Path,
        executable: bool,
    ) -> Result<Part, TargetFault>;

    /// `AdvanceAttempt`: the same for bytes in memory.
    async fn seal_bytes(&self, stage: &StageId, number: u64, bytes: Vec<u8>) -> Result<Part, TargetFault>;

    /// Makes the names of the parts sealed so far durable. To be called before a row refers to them.
    async fn settle(&self, stage: &StageId) -> Result<(), TargetFault>;

    /// Checks that parts are there and right.
    async fn verify(&self, parts: &[Part], depth: Depth) -> Result<(), TargetFault>;

    /// Copies a file's parts, one after another, to a local file, checking every digest on the way.
    async fn fetch(&self, parts: &[Part], to: &Path, executable: bool) -> Result<(), TargetFault>;

    /// The bytes of one part, checked.
    async fn read(&self, part: &Part) -> Result<Vec<u8>, TargetFault>;

    /// Lays the result out under its own names and makes it durable; gives the manifest of what lies there.
    async fn lay_out(&self, stage: &StageId, manifest: &Manifest) -> Result<Manifest, TargetFault>;

    /// Deletes single parts of the stage's own that no manifest refers to any more.
    async fn discard(&self, keys: &BTreeSet<String>) -> Result<(), TargetFault>;

    /// `CleanupStage`: deletes everything under the stage but the keys to keep.
    async fn sweep(&self, stage: &StageId, keep: &BTreeSet<String>) -> Result<Sweep, TargetFault>;

    /// Stages last written longer ago than this: candidates for a sweep that no row asked for.
    async fn old_stages(&self, age: Duration) -> Result<Vec<StageId>, TargetFault>;

    /// Opens the log of an attempt for writing.
    async fn open_log(&self, stage: &StageId) -> Result<Box<dyn LogSink>, TargetFault>;

    /// Opens it for reading; follows what is appended later.
    fn read_log(&self, stage: &StageId) -> Box<dyn LogReader>;

    /// Opens a file of a laid-out result by the name that the manifest gives it, for this range of its bytes (cut to
    /// what there is; `0..u64::MAX` is all).
    async fn open_result(
        &self,
        stage: &StageId,
        path: &str,
        range: Range<u64>,
    ) -> Result<Box<dyn ResultFile>, TargetFault>;

    /// The target's identity, which lies in it as a marker; where it has none, the one offered becomes it, durably. Of
    /// several that are offered at once one wins, and all are answered that one. A marker that names none is bad data.
    async fn identity(&self, offered: Option<TargetId>) -> Result<Option<TargetId>, TargetFault>;

    /// Where a result lies, where that is a folder of this machine.
    fn local_result(&self, stage: &StageId) -> Option<PathBuf>;
}
