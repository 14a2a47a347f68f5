//! Walking an output folder.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path};

use super::StageError;

/// What identifies a file's content without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Identity {
    pub(super) inode: u64,
    pub(super) size: u64,
    pub(super) changed_ns: i128,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Found {
    File { executable: bool },
    Folder,
    Link { to: String },
}

/// All entries below `root`, in the order of their paths.
pub(super) fn scan(root: &Path) -> Result<Vec<(String, Found)>, StageError> {
    let mut found = Vec::new();
    let mut open = vec![(root.to_owned(), String::new())];
    while let Some((folder, prefix)) = open.pop() {
        let entries = fs::read_dir(&folder)
            .map_err(|error| StageError::local(format!("list {}", folder.display()), error))?;
        for entry in entries {
            let entry =
                entry.map_err(|error| StageError::local(format!("list {}", folder.display()), error))?;
            let path = entry.path();
            let Ok(name) = entry.file_name().into_string() else {
                return Err(StageError::Unfit { path, what: "a name that is not UTF-8" });
            };
            let inside = if prefix.is_empty() { name } else { format!("{prefix}/{name}") };
            match look(&path, &inside)? {
                Some(Found::Folder) => {
                    open.push((path, inside.clone()));
                    found.push((inside, Found::Folder));
                }
                Some(other) => found.push((inside, other)),
                // Deleted between listing and looking: it is not part of the output.
                None => {}
            }
        }
    }
    found.sort_by(|one, two| one.0.cmp(&two.0));
    Ok(found)
}

fn look(path: &Path, inside: &str) -> Result<Option<Found>, StageError> {
    let metadata = match fs::symlink_metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(StageError::local(format!("look at {}", path.display()), error)),
    };
    let kind = metadata.file_type();
    if kind.is_dir() {
        Ok(Some(Found::Folder))
    } else if kind.is_file() {
        Ok(Some(Found::File { executable: metadata.mode() & 0o100 != 0 }))
    } else if kind.is_symlink() {
        let to = fs::read_link(path)
            .map_err(|error| StageError::local(format!("read the link {}", path.display()), error))?;
        let stays = stays_inside(Path::new(inside), &to);
        match to.into_os_string().into_string() {
            Ok(to) if stays => Ok(Some(Found::Link { to })),
            _ => Err(StageError::Unfit { path: path.to_owned(), what: "a link that leads out of it" }),
        }
    } else {
        Err(StageError::Unfit { path: path.to_owned(), what: "a socket, pipe or device" })
    }
}

fn stays_inside(link: &Path, to: &Path) -> bool {
    let mut depth: usize = link.components().count().saturating_sub(1);
    for part in to.components() {
        match part {
            Component::Normal(_) => depth += 1,
            Component::CurDir => {}
            Component::ParentDir if depth > 0 => depth -= 1,
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return false,
        }
    }
    true
}

/// Makes the file's bytes durable, so that later mapped writes move its change time, and identifies it.
pub(super) fn identify(file: &File, path: &Path) -> Result<Identity, StageError> {
    let metadata = file
        .sync_all()
        .and_then(|()| file.metadata())
        .map_err(|error| StageError::local(format!("look at {}", path.display()), error))?;
    Ok(Identity {
        inode: metadata.ino(),
        size: metadata.size(),
        changed_ns: i128::from(metadata.ctime()) * 1_000_000_000 + i128::from(metadata.ctime_nsec()),
    })
}

/// Whether the file system moves change times for mapped writes; tmpfs does not.
pub(super) fn keeps_change_times(file: &File) -> bool {
    const TMPFS: u64 = 0x0102_1994;
    rustix::fs::fstatfs(file).is_ok_and(|found| u64::try_from(found.f_type).is_ok_and(|kind| kind != TMPFS))
}

pub(super) fn open(path: &Path) -> Result<Option<File>, StageError> {
    match File::open(path) {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(StageError::local(format!("read {}", path.display()), error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn entries_come_in_order_with_folders_before_their_contents() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join("a/b")).unwrap();
        fs::write(root.path().join("a/b/c"), "1").unwrap();
        fs::write(root.path().join("a-b"), "2").unwrap();
        symlink("b/c", root.path().join("a/l")).unwrap();
        let names: Vec<_> = scan(root.path()).unwrap().into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["a", "a-b", "a/b", "a/b/c", "a/l"]);
    }

    #[test]
    fn what_a_result_cannot_hold_is_named() {
        for target in ["/etc/passwd", "../x", "a/../../x"] {
            let root = tempfile::tempdir().unwrap();
            symlink(target, root.path().join("l")).unwrap();
            let error = scan(root.path()).unwrap_err();
            assert!(error.is_permanent() && error.to_string().contains("leads out"), "{error}");
        }
        let root = tempfile::tempdir().unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(root.path().join("s")).unwrap();
        assert!(scan(root.path()).unwrap_err().to_string().contains("a socket"));
        let root = tempfile::tempdir().unwrap();
        let odd: &std::ffi::OsStr = std::os::unix::ffi::OsStrExt::from_bytes(b"\xff");
        fs::write(root.path().join(odd), "").unwrap();
        assert!(scan(root.path()).unwrap_err().to_string().contains("not UTF-8"));
    }
}
