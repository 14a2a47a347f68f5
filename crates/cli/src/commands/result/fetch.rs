//! Copying a whole result to a folder.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use target::{Manifest, Node, Target};

use crate::failure::{Failure, code};

/// Copies everything, checking every digest. The folder must be empty or new: nothing is written over.
pub(super) async fn whole(target: &dyn Target, manifest: &Manifest, to: &Path) -> Result<(), Failure> {
    if to.exists() && (!to.is_dir() || fs::read_dir(to)?.next().is_some()) {
        return Err(Failure::new(code::REFUSED, format!("{} is not empty", to.display()))
            .hint("name an empty folder or a new one: nothing is written over"));
    }
    fs::create_dir_all(to)?;
    for entry in &manifest.entries {
        let path = to.join(&entry.path);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        match &entry.node {
            Node::File { parts, executable, .. } => target.fetch(parts, &path, *executable).await?,
            Node::Folder => fs::create_dir_all(&path)?,
            Node::Link { to } => symlink(to, &path)?,
        }
    }
    Ok(())
}
