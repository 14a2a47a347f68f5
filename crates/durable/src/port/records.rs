//! What the room keeps: documents, checkpoints, results.

use protocol::{AttemptId, Timestamp, Token, UserProgress};
use serde::{Deserialize, Serialize};

/// Opaque bytes of a job: kept in the row when small, else on the target with their digest here
/// (protocol §3: the limit is [`protocol::limit::INLINE_BYTES`]).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Document {
    /// The bytes themselves.
    Inline(Vec<u8>),
    /// Where they lie on the target.
    Stored {
        /// The part's key.
        key: String,
        /// Its length in bytes.
        length: u64,
        /// Its BLAKE3 digest.
        digest: [u8; 32],
    },
}

impl Document {
    /// No bytes.
    #[must_use]
    pub fn empty() -> Self {
        Self::Inline(Vec::new())
    }
}

/// A durable checkpoint: progress, state and the output so far, in one row change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// The job's revision when it was persisted; names it in claims and invalidations. Never 0.
    pub revision: u64,
    /// The attempt that wrote it.
    pub attempt: AttemptId,
    /// That attempt's token.
    pub token: Token,
    /// The spec's progress: sealed checkpoints, those inherited counted.
    pub progress: u64,
    /// The job's own progress.
    pub user: UserProgress,
    /// What the job needs to resume.
    pub state: Document,
    /// The manifest of the output so far.
    pub manifest: Document,
    /// When, on the store's clock.
    pub at: Timestamp,
}

/// A result as `AcceptSuccess` stores it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResultRecord {
    /// The complete manifest.
    pub manifest: Document,
    /// BLAKE3 of the manifest's bytes.
    pub digest: [u8; 32],
    /// Files in it.
    pub files: u64,
    /// Bytes in them.
    pub bytes: u64,
}

/// How a program ended, where an attempt was one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProgramExit {
    /// It returned this code.
    Code(i32),
    /// This signal ended it.
    Signal(i32),
}
