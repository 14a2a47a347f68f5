//! Published results.

use protocol::{AttemptId, JobId};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Moment;

/// A published result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ResultSummary {
    /// The job.
    #[schema(value_type = String)]
    pub job: JobId,
    /// The token of the attempt that wrote it.
    pub attempt: u32,
    /// That attempt.
    #[schema(value_type = String)]
    pub attempt_id: AttemptId,
    /// Files in it.
    pub files: u64,
    /// Bytes in them.
    pub bytes: u64,
    /// BLAKE3 of its manifest, in hexadecimal digits.
    pub digest: String,
    /// When it was published.
    #[schema(value_type = String, format = DateTime)]
    pub published_at: Moment,
    /// The folder it lies in, where the target is a folder of the answering machine.
    pub path: Option<String>,
}

/// What an entry of a result is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum EntryKind {
    /// A file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link that stays inside the result.
    Link,
}

/// A name in a result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ResultEntry {
    /// Relative to the result, `/` between names.
    pub path: String,
    /// What it is.
    #[serde(rename = "type")]
    pub kind: EntryKind,
    /// A file's length in bytes.
    pub bytes: Option<u64>,
    /// A file's executable bit.
    pub executable: bool,
    /// A file's BLAKE3 in hexadecimal digits, where it is of one part.
    pub blake3: Option<String>,
    /// Where a link points.
    pub to: Option<String>,
}
