//! A result under its own names: hard links of sealed parts, or copies where a link will not do.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use super::FileTarget;
use super::parts::{make_folder, mode, sync_folder};
use crate::digest::digest_of;
use crate::manifest::{Entry, Manifest, Node, Part};
use crate::port::{StageId, TargetFault};

impl FileTarget {
    pub(super) fn lay_out_result(
        &self,
        stage: &StageId,
        manifest: &Manifest,
    ) -> Result<Manifest, TargetFault> {
        manifest.check_paths().map_err(|error| TargetFault::bad(format!("lay out a result: {error}")))?;
        let stage_path = self.stage_path(stage);
        let out = stage_path.join("out");
        // A repeated call begins again: nothing refers to a half-laid result.
        match fs::remove_dir_all(&out) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(TargetFault::new(format!("clear {}", out.display()), error));
            }
            _ => make_folder(&out)?,
        }
        let mut laid = Manifest::default();
        let mut folders = BTreeSet::from([out.clone()]);
        for entry in &manifest.entries {
            let path = out.join(&entry.path);
            if let Some(folder) = path.parent() {
                make_folder(folder)?;
                folders
                    .extend(folder.ancestors().take_while(|one| one.starts_with(&out)).map(Path::to_owned));
            }
            if matches!(entry.node, Node::Folder) {
                folders.insert(path.clone());
            }
            let node = self.lay_entry(entry, &path, &format!("{}/out/{}", stage.prefix(), entry.path))?;
            laid.entries.push(Entry { path: entry.path.clone(), node });
        }
        if !manifest.entries.is_empty() {
            self.sync_result(&stage_path, &folders)?;
        }
        Ok(laid)
    }

    /// Deepest first, so that a folder's name is durable only after what is in it.
    fn sync_result(&self, stage_path: &Path, folders: &BTreeSet<PathBuf>) -> Result<(), TargetFault> {
        folders.iter().rev().try_for_each(|folder| sync_folder(folder))?;
        self.sync_up(stage_path)
    }

    fn lay_entry(&self, entry: &Entry, path: &Path, key: &str) -> Result<Node, TargetFault> {
        match &entry.node {
            Node::Folder => make_folder(path)?,
            Node::Link { to } => symlink(to, path)
                .map_err(|error| TargetFault::new(format!("link {}", path.display()), error))?,
            Node::File { parts, executable } => {
                if !self.try_link(parts, *executable, path)? {
                    self.copy_out(parts, path, *executable)?;
                    fs::File::open(path).and_then(|file| file.sync_all()).map_err(|error| {
                        TargetFault::new(format!("make {} durable", path.display()), error)
                    })?;
                }
                return Ok(Node::File { parts: one_part(parts, path, key)?, executable: *executable });
            }
        }
        Ok(entry.node.clone())
    }

    /// Links the one part there is, when its executable bit is right and the file system can.
    fn try_link(&self, parts: &[Part], executable: bool, path: &Path) -> Result<bool, TargetFault> {
        let [part] = parts else { return Ok(false) };
        let from = self.path_of(&part.key)?;
        let metadata = self
            .open_part(part)?
            .metadata()
            .map_err(|error| TargetFault::new(format!("look at {}", from.display()), error))?;
        let same_mode = metadata.permissions().mode() & 0o100 == mode(executable) & 0o100;
        Ok(same_mode && metadata.nlink() < 1000 && fs::hard_link(&from, path).is_ok())
    }
}

/// The laid-out file as one part of its own.
fn one_part(parts: &[Part], path: &Path, key: &str) -> Result<Vec<Part>, TargetFault> {
    match parts {
        [] => Ok(Vec::new()),
        [part] => Ok(vec![Part { key: key.to_owned(), ..part.clone() }]),
        _ => {
            let digest = fs::File::open(path)
                .and_then(|file| digest_of(&file))
                .map_err(|error| TargetFault::new(format!("read {}", path.display()), error))?;
            let length = parts.iter().map(|part| part.length).sum();
            Ok(vec![Part { key: key.to_owned(), length, digest }])
        }
    }
}
