//! A folder for a command's own data, removed at its end unless it is worth a look.

use std::cell::Cell;
use std::path::PathBuf;

use crate::failure::{Failure, code};

pub(crate) struct Place {
    pub(crate) path: PathBuf,
    keep: Cell<bool>,
}

impl Place {
    /// A new folder, in the system's folder for such things unless another one is named.
    pub(crate) fn make(what: &str, within: Option<PathBuf>) -> Result<Self, Failure> {
        let within = within.unwrap_or_else(std::env::temp_dir);
        let path = within.join(format!("remora-{what}-{}", std::process::id()));
        std::fs::create_dir_all(&path).map_err(|error| {
            Failure::new(code::FAILED, format!("cannot make {}: {error}", path.display()))
        })?;
        Ok(Self { path, keep: Cell::new(false) })
    }

    pub(crate) fn keep(&self) {
        self.keep.set(true);
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if !self.keep.get() {
            // What cannot be removed lies where others clean up.
            let _ = std::fs::remove_dir_all(&self.path);
        }
    }
}
