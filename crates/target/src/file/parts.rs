//! Parts: sealed once, never changed, checked whenever they are read.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use super::FileTarget;
use crate::manifest::{Digest, Part};
use crate::port::{Depth, StageId, TargetFault};

const BUFFER_BYTES: usize = 256 * 1024;

/// Copies everything and digests it on the way.
fn copy_digesting(from: &mut impl Read, to: &mut impl Write) -> io::Result<(u64, Digest)> {
    let mut hasher = blake3::Hasher::new();
    let mut buffer = vec![0; BUFFER_BYTES];
    let mut length = 0;
    loop {
        let read = match from.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        hasher.update(&buffer[..read]);
        to.write_all(&buffer[..read])?;
        length += u64::try_from(read).map_err(io::Error::other)?;
    }
    Ok((length, Digest(*hasher.finalize().as_bytes())))
}

/// Makes the entries of a folder durable.
pub(super) fn sync_folder(folder: &Path) -> Result<(), TargetFault> {
    File::open(folder)
        .and_then(|handle| handle.sync_all())
        .map_err(|error| TargetFault::new(format!("make the folder {} durable", folder.display()), error))
}

/// Makes a folder with those above it. A sweep of a neighbour may take an empty one away between two of them;
/// then it begins again.
pub(super) fn make_folder(folder: &Path) -> Result<(), TargetFault> {
    const TRIES: u32 = 100;
    let mut tries = 1;
    loop {
        match fs::create_dir_all(folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound && tries < TRIES => tries += 1,
            made => {
                return made.map_err(|error| {
                    TargetFault::new(format!("make the folder {}", folder.display()), error)
                });
            }
        }
    }
}

/// Makes a file of its own under a name: what lay there is left to whoever else has a name for it.
fn make_anew(path: &Path, executable: bool) -> io::Result<File> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    OpenOptions::new().write(true).create_new(true).mode(mode(executable)).open(path)
}

pub(super) fn mode(executable: bool) -> u32 {
    if executable { 0o755 } else { 0o644 }
}

impl FileTarget {
    fn part_file(&self, stage: &StageId, number: u64, executable: bool) -> Result<PartFile, TargetFault> {
        let key = format!("{}/p/{number:06}", stage.prefix());
        let path = self.root.join(&key);
        make_folder(&self.stage_path(stage).join("p"))?;
        // A number is used once an attempt; what a lost call left under it is replaced, never written over: a
        // laid-out result may be a link to it.
        let file = make_anew(&path, executable)
            .map_err(|error| TargetFault::new(format!("make {}", path.display()), error))?;
        Ok(PartFile { key, path, file })
    }

    pub(super) fn copy_in(
        &self,
        stage: &StageId,
        number: u64,
        source: &Path,
        executable: bool,
    ) -> Result<Part, TargetFault> {
        let mut from = File::open(source)
            .map_err(|error| TargetFault::new(format!("read {}", source.display()), error))?;
        self.part_file(stage, number, executable)?.fill(&mut from)
    }

    pub(super) fn write_in(&self, stage: &StageId, number: u64, bytes: &[u8]) -> Result<Part, TargetFault> {
        self.part_file(stage, number, false)?.fill(&mut &*bytes)
    }

    /// From the stage's parts up to the root: each name in its folder.
    pub(super) fn sync_names(&self, stage: &StageId) -> Result<(), TargetFault> {
        let stage_path = self.stage_path(stage);
        let parts = stage_path.join("p");
        if !parts.exists() {
            return Ok(());
        }
        sync_folder(&parts)?;
        self.sync_up(&stage_path)
    }

    pub(super) fn sync_up(&self, stage_path: &Path) -> Result<(), TargetFault> {
        sync_folder(stage_path)?;
        if let Some(job) = stage_path.parent() {
            sync_folder(job)?;
        }
        sync_folder(&self.root)
    }

    pub(super) fn path_of(&self, key: &str) -> Result<PathBuf, TargetFault> {
        let inside = key.split('/').all(|name| !matches!(name, "" | "." | ".."));
        if inside {
            Ok(self.root.join(key))
        } else {
            Err(TargetFault::bad(format!("the part key {key:?} leads out")))
        }
    }

    pub(super) fn open_part(&self, part: &Part) -> Result<File, TargetFault> {
        let path = self.path_of(&part.key)?;
        let file = File::open(&path).map_err(|error| {
            if error.kind() == io::ErrorKind::NotFound {
                TargetFault::bad(format!("the part {} is missing", part.key))
            } else {
                TargetFault::new(format!("read {}", path.display()), error)
            }
        })?;
        let length = file
            .metadata()
            .map_err(|error| TargetFault::new(format!("look at {}", path.display()), error))?
            .len();
        if length != part.length {
            return Err(TargetFault::bad(format!(
                "the part {} has {length} bytes and should have {}",
                part.key, part.length
            )));
        }
        Ok(file)
    }

    fn copy_checked(&self, part: &Part, to: &mut impl Write) -> Result<(), TargetFault> {
        let mut file = self.open_part(part)?;
        let (_, digest) = copy_digesting(&mut file, to)
            .map_err(|error| TargetFault::new(format!("copy the part {}", part.key), error))?;
        if digest == part.digest {
            return Ok(());
        }
        Err(TargetFault::bad(format!(
            "the part {} has the digest {digest} and should have {}",
            part.key, part.digest
        )))
    }

    pub(super) fn verify_part(&self, part: &Part, depth: Depth) -> Result<(), TargetFault> {
        match depth {
            Depth::UpTo(bytes) if part.length > bytes => self.open_part(part).map(drop),
            Depth::UpTo(_) | Depth::All => self.copy_checked(part, &mut io::sink()),
        }
    }

    pub(super) fn read_part(&self, part: &Part) -> Result<Vec<u8>, TargetFault> {
        let mut bytes = Vec::new();
        self.copy_checked(part, &mut bytes)?;
        Ok(bytes)
    }

    pub(super) fn copy_out(&self, parts: &[Part], to: &Path, executable: bool) -> Result<(), TargetFault> {
        let mut file = make_anew(to, executable)
            .map_err(|error| TargetFault::new(format!("make {}", to.display()), error))?;
        let copied = parts.iter().try_for_each(|part| self.copy_checked(part, &mut file));
        if copied.is_err() {
            // Nobody shall find half a file, or a wrong one, under that name.
            let _ = fs::remove_file(to);
        }
        copied
    }

    pub(super) fn delete_part(&self, key: &str) -> Result<(), TargetFault> {
        let path = self.path_of(key)?;
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(TargetFault::new(format!("delete {}", path.display()), error))
            }
            _ => Ok(()),
        }
    }
}

struct PartFile {
    key: String,
    path: PathBuf,
    file: File,
}

impl PartFile {
    fn fill(mut self, from: &mut impl Read) -> Result<Part, TargetFault> {
        let written = copy_digesting(from, &mut self.file).and_then(|sealed| {
            self.file.sync_all()?;
            Ok(sealed)
        });
        match written {
            Ok((length, digest)) => Ok(Part { key: self.key, length, digest }),
            Err(error) => {
                // What was written is in no manifest; giving the space back is a kindness to a full disk.
                let _ = fs::remove_file(&self.path);
                Err(TargetFault::new(format!("write {}", self.path.display()), error))
            }
        }
    }
}
