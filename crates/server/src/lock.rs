//! The owner's lock on a data folder.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::PathBuf;

use remora::DataFolder;
use rustix::fs::{FlockOperation, flock};
use thiserror::Error;

/// Why the lock could not be had.
#[derive(Debug, Error)]
pub enum LockError {
    /// Somebody owns the folder.
    #[error("{} is owned by a living process{}", folder.display(), pid.map_or(String::new(), |pid| format!(" (pid {pid})")))]
    Owned {
        /// The folder.
        folder: PathBuf,
        /// The owner's process id, where it says so.
        pid: Option<u32>,
    },
    /// The folder cannot be used.
    #[error("cannot use the data folder {}", folder.display())]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// The lock, held until dropped or the process ends.
#[derive(Debug)]
pub struct FolderLock {
    _file: File,
}

impl FolderLock {
    /// Takes the lock; makes the folder where it is not there.
    ///
    /// # Errors
    /// When somebody has it, or the folder cannot be written.
    pub fn take(folder: &DataFolder) -> Result<Self, LockError> {
        let fail = |source| LockError::Folder { folder: folder.root().to_owned(), source };
        // Making one says that something exists, and not what.
        let made = match fs::metadata(folder.root()) {
            Ok(found) if !found.is_dir() => Err(io::ErrorKind::NotADirectory.into()),
            _ => fs::create_dir_all(folder.root()),
        };
        made.map_err(fail)?;
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(folder.lock())
            .map_err(fail)?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(rustix::io::Errno::WOULDBLOCK) => {
                let mut text = String::new();
                // The pid is for people: an owner that has not written it yet is named without.
                let _ = file.read_to_string(&mut text);
                return Err(LockError::Owned {
                    folder: folder.root().to_owned(),
                    pid: text.trim().parse().ok(),
                });
            }
            Err(error) => return Err(fail(error.into())),
        }
        file.set_len(0)
            .and_then(|()| file.seek(SeekFrom::Start(0)))
            .and_then(|_| writeln!(file, "{}", std::process::id()))
            .map_err(fail)?;
        Ok(Self { _file: file })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_owner_is_refused_and_told_the_pid_of_the_first() {
        let place = tempfile::tempdir().unwrap();
        let folder = DataFolder::new(place.path().join("data"));
        let first = FolderLock::take(&folder).unwrap();
        let error = FolderLock::take(&folder).unwrap_err().to_string();
        assert!(error.contains(&format!("pid {}", std::process::id())), "{error}");
        drop(first);
        FolderLock::take(&folder).unwrap();
    }
}
