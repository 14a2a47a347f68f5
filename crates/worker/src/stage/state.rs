//! The state folder as bytes: a tar archive without times and owners.

use std::fs;
use std::io::{self, Cursor};
use std::path::{Path, PathBuf};

use protocol::limit;

use super::StageError;

/// Packs everything in the folder; an empty folder gives no bytes.
pub(crate) fn pack_state(folder: &Path) -> Result<Vec<u8>, StageError> {
    let size =
        measure(folder).map_err(|error| StageError::local(format!("list {}", folder.display()), error))?;
    if size > limit::STATE_BYTES {
        return Err(StageError::StateTooLarge { bytes: size, limit: limit::STATE_BYTES });
    }
    let packed =
        pack(folder).map_err(|error| StageError::local(format!("read {}", folder.display()), error))?;
    let bytes = u64::try_from(packed.len()).unwrap_or(u64::MAX);
    if bytes > limit::STATE_BYTES {
        return Err(StageError::StateTooLarge { bytes, limit: limit::STATE_BYTES });
    }
    Ok(packed)
}

fn pack(folder: &Path) -> io::Result<Vec<u8>> {
    if fs::read_dir(folder)?.next().is_none() {
        return Ok(Vec::new());
    }
    let mut archive = tar::Builder::new(Vec::new());
    archive.mode(tar::HeaderMode::Deterministic);
    archive.follow_symlinks(false);
    archive.append_dir_all("", folder)?;
    archive.into_inner()
}

fn measure(folder: &Path) -> io::Result<u64> {
    let mut bytes = 0_u64;
    let mut open: Vec<PathBuf> = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let metadata = entry.metadata()?;
            if metadata.is_dir() {
                open.push(entry.path());
            }
            bytes = bytes.saturating_add(metadata.len());
        }
    }
    Ok(bytes)
}

/// Puts a packed state back.
pub(crate) fn unpack_state(bytes: &[u8], folder: &Path) -> Result<(), StageError> {
    if bytes.is_empty() {
        return Ok(());
    }
    let mut archive = tar::Archive::new(Cursor::new(bytes));
    archive.set_preserve_permissions(true);
    archive
        .unpack(folder)
        .map_err(|error| StageError::local(format!("restore the state to {}", folder.display()), error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_comes_back_as_it_was() {
        let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::create_dir(from.path().join("d")).unwrap();
        fs::write(from.path().join("d/i"), "7\n").unwrap();
        fs::write(from.path().join(".hidden"), "x").unwrap();
        let packed = pack_state(from.path()).unwrap();
        unpack_state(&packed, to.path()).unwrap();
        assert_eq!(fs::read_to_string(to.path().join("d/i")).unwrap(), "7\n");
        assert_eq!(pack_state(to.path()).unwrap(), packed);
    }

    #[test]
    fn no_state_is_no_bytes_and_too_much_is_refused_by_size_and_limit() {
        let folder = tempfile::tempdir().unwrap();
        assert!(pack_state(folder.path()).unwrap().is_empty());
        let file = fs::File::create(folder.path().join("big")).unwrap();
        file.set_len(limit::STATE_BYTES + 1).unwrap();
        let error = pack_state(folder.path()).unwrap_err();
        assert!(error.is_permanent());
        assert!(error.to_string().contains("67108865 bytes; allowed is at most 67108864"), "{error}");
    }
}
