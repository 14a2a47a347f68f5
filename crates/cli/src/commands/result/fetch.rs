//! Copying a whole result to a folder.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use futures_util::stream::{self, StreamExt, TryStreamExt};
use target::{Manifest, Node, Part, Target, TargetFault};

use crate::failure::{Failure, code};

/// Up to this, many files are fetched at once.
const LIGHT: u64 = 1 << 20;
const LIGHT_AT_ONCE: usize = 32;
/// Each of these takes memory, and has several requests of its own.
const HEAVY_AT_ONCE: usize = 2;

/// A file that is to be fetched.
struct Wanted<'a> {
    parts: &'a [Part],
    path: PathBuf,
    executable: bool,
}

/// Copies everything, checking every digest. The folder must be empty or new: nothing is written over.
pub(super) async fn whole(target: &dyn Target, manifest: &Manifest, to: &Path) -> Result<(), Failure> {
    if to.exists() && (!to.is_dir() || fs::read_dir(to)?.next().is_some()) {
        return Err(Failure::new(code::REFUSED, format!("{} is not empty", to.display()))
            .hint("name an empty folder or a new one: nothing is written over"));
    }
    fs::create_dir_all(to)?;
    let (mut light, mut heavy) = (Vec::new(), Vec::new());
    for entry in &manifest.entries {
        let path = to.join(&entry.path);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        match &entry.node {
            Node::File { parts, executable, .. } => {
                let bytes: u64 = parts.iter().map(|part| part.length).sum();
                let wanted = Wanted { parts, path, executable: *executable };
                if bytes > LIGHT { heavy.push(wanted) } else { light.push(wanted) }
            }
            Node::Folder => fs::create_dir_all(&path)?,
            Node::Link { to } => symlink(to, &path)?,
        }
    }
    all(target, light, LIGHT_AT_ONCE).await?;
    all(target, heavy, HEAVY_AT_ONCE).await?;
    Ok(())
}

/// Fetches files, several at once; the first that fails ends it.
async fn all(target: &dyn Target, files: Vec<Wanted<'_>>, at_once: usize) -> Result<(), TargetFault> {
    let fetching = stream::iter(files)
        .map(|file| async move { target.fetch(file.parts, &file.path, file.executable).await });
    fetching.buffer_unordered(at_once).try_collect().await
}
