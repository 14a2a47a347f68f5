//! The folder of one server: named after the process that made it, so that those of dead ones can be swept.

use std::path::Path;

use rustix::process::{Pid, test_kill_process};

/// What the names of all folders begin with.
const PREFIX: &str = "remora-testbed-";

/// A folder that goes with the value.
#[derive(Debug)]
pub struct Folder {
    held: tempfile::TempDir,
}

impl Folder {
    /// Makes one, and removes those whose process has ended.
    ///
    /// # Panics
    /// When the folder for temporary files cannot be written.
    #[must_use]
    pub fn new(what: &str) -> Self {
        sweep();
        let prefix = format!("{PREFIX}{}-{what}-", std::process::id());
        Self { held: tempfile::Builder::new().prefix(&prefix).tempdir().unwrap() }
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.held.path()
    }
}

fn sweep() {
    for entry in std::fs::read_dir(std::env::temp_dir()).into_iter().flatten().flatten() {
        if maker(&entry.path()).is_some_and(|pid| test_kill_process(pid).is_err()) {
            // Another process may sweep the same folder: whoever comes second finds nothing.
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

fn maker(path: &Path) -> Option<Pid> {
    let name = path.file_name()?.to_str()?.strip_prefix(PREFIX)?;
    Pid::from_raw(name.split('-').next()?.parse().ok()?)
}
