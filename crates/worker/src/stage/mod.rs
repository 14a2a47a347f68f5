//! An attempt's local folders and how they become parts and manifests (protocol §3).
//!
//! Promises: a checkpoint's manifest names only sealed, digested copies; an unchanged file is not read again
//! at a checkpoint; before a result is laid out every file is digested once more. Does not decide when.
//! The spec speaks of it as `AdvanceAttempt`.

mod folder;
mod scan;
mod seal;
mod state;

pub use folder::WorkFolderError;
pub(crate) use folder::{AttemptFolder, WorkFolder, blocking};
pub(crate) use seal::OutputStage;
pub(crate) use state::{pack_state, unpack_state};

use std::path::PathBuf;

use target::{ManifestError, TargetFault};
use thiserror::Error;

/// Why an output could not be sealed or restored.
#[derive(Debug, Error)]
pub enum StageError {
    /// Something in the output that a result cannot hold.
    #[error("the output has {path:?}, {what}; a result holds files, folders and links that stay inside")]
    Unfit {
        /// Which.
        path: PathBuf,
        /// What it is.
        what: &'static str,
    },
    /// A local file operation failed.
    #[error("cannot {doing}")]
    Local {
        /// Operation and object.
        doing: String,
        /// Why.
        source: std::io::Error,
    },
    /// The state is too large.
    #[error("checkpoint state is {bytes} bytes; allowed is at most {limit} bytes")]
    StateTooLarge {
        /// Its size.
        bytes: u64,
        /// The limit.
        limit: u64,
    },
    /// The manifest cannot be used.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// The target failed.
    #[error(transparent)]
    Target(#[from] TargetFault),
}

impl StageError {
    pub(crate) fn local(doing: impl Into<String>, source: std::io::Error) -> Self {
        Self::Local { doing: doing.into(), source }
    }

    /// Whether it will be the same at every further attempt.
    #[must_use]
    pub fn is_permanent(&self) -> bool {
        matches!(
            self,
            Self::Unfit { .. } | Self::StateTooLarge { .. } | Self::Manifest(ManifestError::TooMany(_))
        )
    }

    /// Whether stored data was bad. What a newer version wrote is not: a worker of that version goes on from it.
    #[must_use]
    pub fn is_bad_data(&self) -> bool {
        match self {
            Self::Target(fault) => fault.bad_data,
            Self::Manifest(error) => !matches!(error, ManifestError::TooMany(_) | ManifestError::Newer(_)),
            Self::Unfit { .. } | Self::Local { .. } | Self::StateTooLarge { .. } => false,
        }
    }
}
