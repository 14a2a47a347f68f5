//! The data folder of the embedded default (protocol §7).

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use protocol::Finding;

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

/// Less free space than this is told.
const LITTLE_SPACE: u64 = 1024 * 1024 * 1024;

/// Whether a folder, or the nearest one above it that is there, can be written, and how much space it has left.
#[must_use]
pub fn writable(folder: &Path) -> Finding {
    let Some(there) = folder.ancestors().find(|path| path.is_dir()) else {
        return Finding::bad("write", format!("no part of {} is there", folder.display()));
    };
    let probe = there.join(format!(".remora-probe-{}", std::process::id()));
    let written = File::create(&probe).and_then(|mut file| {
        file.write_all(b"remora")?;
        file.sync_all()
    });
    let removed = fs::remove_file(&probe);
    if let Err(error) = written.and(removed) {
        return Finding::bad("write", format!("{} cannot be written: {error}", there.display()));
    }
    let free =
        rustix::fs::statvfs(there).map_or(u64::MAX, |data| data.f_bavail.saturating_mul(data.f_frsize));
    let text = format!("{} can be written; {} MiB are free", there.display(), free / (1024 * 1024));
    if free < LITTLE_SPACE { Finding::warn("write", text) } else { Finding::ok("write", text) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::Level;

    #[test]
    fn a_folder_that_is_not_there_yet_is_judged_by_the_one_above_and_nothing_is_left() {
        let place = tempfile::tempdir().unwrap();
        let found = writable(&place.path().join("not/yet"));
        assert!(found.level <= Level::Warn && found.text.contains("can be written"), "{found:?}");
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
        assert_eq!(writable(Path::new("/proc/self")).level, Level::Bad);
    }
}
