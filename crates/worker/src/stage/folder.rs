//! Work folders: `work/<incarnation>/<attempt>/`, the incarnation's held by a lock.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use protocol::{AttemptId, Incarnation};
use runtime::Spawner;
use rustix::fs::{FlockOperation, flock};
use thiserror::Error;

use super::StageError;

const LOCK: &str = "lock";

/// Why a work folder could not be had.
#[derive(Debug, Error)]
#[error("cannot prepare the work folder {path}")]
pub struct WorkFolderError {
    /// Which.
    pub path: PathBuf,
    source: io::Error,
}

/// The folder of one incarnation. Its lock ends with the process.
pub(crate) struct WorkFolder {
    root: PathBuf,
    _lock: File,
}

/// The folders of one attempt.
#[derive(Debug, Clone)]
pub(crate) struct AttemptFolder {
    pub(crate) root: PathBuf,
}

/// Runs blocking file work beside the async tasks. A panic in it is an error.
pub(crate) async fn blocking<T, F>(spawner: &dyn Spawner, work: F) -> Result<T, StageError>
where
    T: Send + 'static,
    F: FnOnce() -> Result<T, StageError> + Send + 'static,
{
    let (sender, receiver) = tokio::sync::oneshot::channel();
    spawner.spawn_blocking(Box::new(move || {
        // Nobody waits any more when its task has ended.
        let _ = sender.send(work());
    }));
    match receiver.await {
        Ok(result) => result,
        Err(error) => Err(StageError::local("finish file work", io::Error::other(error))),
    }
}

impl WorkFolder {
    /// Makes this incarnation's folder and removes those of processes that are gone.
    pub(crate) fn open(work: &Path, incarnation: Incarnation) -> Result<Self, WorkFolderError> {
        let root = work.join(incarnation.to_string());
        let fail = |source| WorkFolderError { path: root.clone(), source };
        fs::create_dir_all(&root).map_err(fail)?;
        let lock = File::create(root.join(LOCK)).map_err(fail)?;
        flock(&lock, FlockOperation::NonBlockingLockExclusive).map_err(|error| fail(error.into()))?;
        remove_abandoned(work, &root);
        Ok(Self { root, _lock: lock })
    }

    /// Removes the folders of processes that are gone.
    pub(crate) async fn remove_abandoned(&self, spawner: &dyn Spawner) {
        let root = self.root.clone();
        // What cannot be removed now is looked at again.
        let _ = blocking(spawner, move || {
            if let Some(work) = root.parent() {
                remove_abandoned(work, &root);
            }
            Ok(())
        })
        .await;
    }

    pub(crate) fn attempt(&self, attempt: AttemptId) -> AttemptFolder {
        AttemptFolder { root: self.root.join(attempt.to_string()) }
    }

    /// Takes the whole folder away.
    pub(crate) fn remove(&self) {
        remove_but_lock(&self.root);
    }
}

/// Folders whose lock is free belong to nobody. One without a lock file is just being made, or removed.
fn remove_abandoned(work: &Path, own: &Path) {
    let Ok(entries) = fs::read_dir(work) else { return };
    for path in entries.flatten().map(|entry| entry.path()).filter(|path| path != own) {
        let Ok(lock) = File::open(path.join(LOCK)) else { continue };
        if flock(&lock, FlockOperation::NonBlockingLockExclusive).is_ok() {
            remove_but_lock(&path);
        }
    }
}

/// The lock goes last, and only when all else is gone, so that a removal that was interrupted, or met a
/// program that was still writing, is taken up by the next one.
fn remove_but_lock(folder: &Path) {
    for path in fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
        if path.file_name().is_some_and(|name| name != LOCK) {
            remove_tree(&path);
        }
    }
    let only_lock = fs::read_dir(folder).is_ok_and(|entries| entries.count() <= 1);
    if only_lock && fs::remove_file(folder.join(LOCK)).is_ok() {
        let _ = fs::remove_dir(folder);
    }
}

impl AttemptFolder {
    pub(crate) fn output(&self) -> PathBuf {
        self.root.join("output")
    }

    pub(crate) fn state(&self) -> PathBuf {
        self.root.join("state")
    }

    pub(crate) fn scratch(&self) -> PathBuf {
        self.root.join("scratch")
    }

    pub(crate) fn bin(&self) -> PathBuf {
        self.root.join("bin")
    }

    pub(crate) fn args(&self) -> PathBuf {
        self.root.join("args.json")
    }

    /// Makes the folders. Only their owner may look in: a job's files are nobody else's business.
    pub(crate) fn make(&self) -> Result<(), StageError> {
        use std::os::unix::fs::DirBuilderExt;
        for folder in [self.root.clone(), self.output(), self.state(), self.scratch(), self.bin()] {
            fs::DirBuilder::new()
                .recursive(true)
                .mode(0o700)
                .create(&folder)
                .map_err(|error| StageError::local(format!("make the folder {}", folder.display()), error))?;
        }
        Ok(())
    }

    pub(crate) fn remove(&self) {
        // What cannot be removed now is removed by the next incarnation.
        remove_tree(&self.root);
    }
}

/// Removes a file or folder, folders that its program has closed to writing included.
fn remove_tree(path: &Path) {
    use std::os::unix::fs::PermissionsExt;
    if fs::remove_dir_all(path).is_ok() || fs::remove_file(path).is_ok() {
        return;
    }
    let mut open = vec![path.to_owned()];
    while let Some(folder) = open.pop() {
        // What cannot be changed cannot be removed, either.
        let _ = fs::set_permissions(&folder, fs::Permissions::from_mode(0o700));
        let inside = fs::read_dir(&folder).into_iter().flatten().flatten();
        open.extend(
            inside
                .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
                .map(|entry| entry.path()),
        );
    }
    let _ = fs::remove_dir_all(path);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_closed_to_writing_is_removed_with_what_is_in_it() {
        use std::os::unix::fs::PermissionsExt;
        let place = tempfile::tempdir().unwrap();
        let inner = place.path().join("a/b");
        fs::create_dir_all(&inner).unwrap();
        fs::write(inner.join("f"), "").unwrap();
        for folder in [inner, place.path().join("a")] {
            fs::set_permissions(folder, fs::Permissions::from_mode(0o500)).unwrap();
        }
        remove_tree(&place.path().join("a"));
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
    }

    #[test]
    fn folders_of_dead_incarnations_go_and_those_of_living_ones_stay() {
        let work = tempfile::tempdir().unwrap();
        let alive = WorkFolder::open(work.path(), Incarnation(1)).unwrap();
        let dead = WorkFolder::open(work.path(), Incarnation(2)).unwrap();
        dead.attempt(AttemptId(1)).make().unwrap();
        drop(dead);
        let next = WorkFolder::open(work.path(), Incarnation(3)).unwrap();
        let names: Vec<_> = fs::read_dir(work.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert!(names.contains(&alive.root) && names.contains(&next.root) && names.len() == 2, "{names:?}");
    }
}
