//! The data folder of the embedded default (protocol §7).

use std::path::{Path, PathBuf};

/// Where things lie in a data folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataFolder {
    root: PathBuf,
}

impl DataFolder {
    /// The data folder at this path, which need not be there.
    #[must_use]
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// The folder itself.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The durable store.
    #[must_use]
    pub fn database(&self) -> PathBuf {
        self.root.join("remora.db")
    }

    /// Held by the owner for as long as it lives.
    #[must_use]
    pub fn lock(&self) -> PathBuf {
        self.root.join("owner.lock")
    }

    /// Where attempts work.
    #[must_use]
    pub fn work(&self) -> PathBuf {
        self.root.join("work")
    }

    /// Where results and logs lie.
    #[must_use]
    pub fn target(&self) -> PathBuf {
        self.root.join("target")
    }

    /// Recorded events.
    #[must_use]
    pub fn events(&self) -> PathBuf {
        self.root.join("events")
    }
}
