//! From local files to sealed parts, reading as little as is safe.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use runtime::Spawner;
use target::{Digest, Entry, Manifest, Node, Part, StageId, Target};

use super::scan::{Found, Identity, identify, keeps_change_times, open, scan};
use super::{StageError, folder::blocking};

/// A file must have been unchanged this long before its copy began for its change time to be believed.
const SETTLED_NS: i128 = 100_000_000;

#[derive(Debug, Clone)]
struct Sealed {
    part: Part,
    /// Equal later means unchanged; `None` where only the digest can tell.
    identity: Option<Identity>,
}

/// The output of one attempt and what of it is sealed.
pub(crate) struct OutputStage {
    target: Arc<dyn Target>,
    spawner: Arc<dyn Spawner>,
    stage: StageId,
    root: PathBuf,
    sealed: BTreeMap<String, Sealed>,
    next_number: u64,
}

/// What a look at a file found.
enum Look {
    Gone,
    /// The bytes of the part known; the identity to remember.
    Same(Part, Option<Identity>),
    Changed {
        before: Identity,
        copy_may_be_trusted: bool,
    },
}

impl OutputStage {
    pub(crate) fn new(
        target: Arc<dyn Target>,
        spawner: Arc<dyn Spawner>,
        stage: StageId,
        root: PathBuf,
    ) -> Self {
        Self { target, spawner, stage, root, sealed: BTreeMap::new(), next_number: 1 }
    }

    /// Puts the output back as a manifest says; it is the stage's beginning, by reference.
    pub(crate) async fn restore(&mut self, manifest: &Manifest) -> Result<(), StageError> {
        for entry in &manifest.entries {
            let path = self.root.join(&entry.path);
            match &entry.node {
                Node::Folder => local(&path, "make the folder", std::fs::create_dir_all(&path))?,
                Node::Link { to } => local(&path, "link", std::os::unix::fs::symlink(to, &path))?,
                Node::File { parts, executable } => {
                    if let Some(folder) = path.parent() {
                        local(folder, "make the folder", std::fs::create_dir_all(folder))?;
                    }
                    self.target.fetch(parts, &path, *executable).await?;
                    if let [part] = parts.as_slice() {
                        let sealed = Sealed { part: part.clone(), identity: None };
                        self.sealed.insert(entry.path.clone(), sealed);
                    }
                }
            }
        }
        Ok(())
    }

    /// The output as it is now, sealed. `thorough`: every file is digested again (at the end).
    pub(crate) async fn seal(&mut self, thorough: bool) -> Result<Manifest, StageError> {
        let root = self.root.clone();
        // A handler that never asked for the folder has no output.
        if !root.is_dir() {
            return Ok(Manifest::default());
        }
        let found = blocking(self.spawner.as_ref(), move || scan(&root)).await?;
        let mut manifest = Manifest::default();
        let mut still_there = BTreeSet::new();
        for (path, found) in found {
            let node = match found {
                Found::Folder => Node::Folder,
                Found::Link { to } => Node::Link { to },
                Found::File { executable } => match self.seal_file(&path, executable, thorough).await? {
                    Some(node) => {
                        still_there.insert(path.clone());
                        node
                    }
                    None => continue,
                },
            };
            manifest.entries.push(Entry { path, node });
        }
        self.sealed.retain(|path, _| still_there.contains(path));
        Ok(manifest)
    }

    /// Seals bytes that are no output file: a state or manifest too large for its row.
    pub(crate) async fn seal_bytes(&mut self, bytes: Vec<u8>) -> Result<Part, StageError> {
        let number = self.take_number();
        Ok(self.target.seal_bytes(&self.stage, number, bytes).await?)
    }

    fn take_number(&mut self) -> u64 {
        let number = self.next_number;
        self.next_number += 1;
        number
    }

    async fn seal_file(
        &mut self,
        path: &str,
        executable: bool,
        thorough: bool,
    ) -> Result<Option<Node>, StageError> {
        let full = self.root.join(path);
        let known = self.sealed.get(path).cloned();
        let look_at = full.clone();
        let look = blocking(self.spawner.as_ref(), move || look(&look_at, known.as_ref(), thorough)).await?;
        let (part, identity) = match look {
            Look::Gone => return Ok(None),
            Look::Same(part, identity) => (part, identity),
            Look::Changed { before, copy_may_be_trusted } => {
                let number = self.take_number();
                let part = self.target.seal_file(&self.stage, number, &full, executable).await?;
                let identity = blocking(self.spawner.as_ref(), move || {
                    trusted_after(&full, before, copy_may_be_trusted)
                })
                .await?;
                (part, identity)
            }
        };
        self.sealed.insert(path.to_owned(), Sealed { part: part.clone(), identity });
        Ok(Some(Node::File { parts: vec![part], executable }))
    }
}

fn local<T>(path: &Path, verb: &str, result: std::io::Result<T>) -> Result<T, StageError> {
    result.map_err(|error| StageError::local(format!("{verb} {}", path.display()), error))
}

#[expect(
    clippy::disallowed_methods,
    reason = "compared with change times of local files, which are on this clock"
)]
fn now_ns() -> i128 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| i128::try_from(since.as_nanos()).unwrap_or(0))
}

fn look(path: &Path, known: Option<&Sealed>, thorough: bool) -> Result<Look, StageError> {
    let Some(file) = open(path)? else { return Ok(Look::Gone) };
    let identity = identify(&file, path)?;
    let trusted = keeps_change_times(&file) && now_ns() - identity.changed_ns >= SETTLED_NS;
    if let Some(known) = known {
        if !thorough && known.identity == Some(identity) {
            return Ok(Look::Same(known.part.clone(), known.identity));
        }
        if known.part.length == identity.size && digest(&file, path)? == known.part.digest {
            let after = identify(&file, path)?;
            let identity = (trusted && after == identity).then_some(identity);
            return Ok(Look::Same(known.part.clone(), identity));
        }
    }
    Ok(Look::Changed { before: identity, copy_may_be_trusted: trusted })
}

fn digest(file: &std::fs::File, path: &Path) -> Result<Digest, StageError> {
    local(path, "read", target::digest_of(file))
}

/// The identity to remember of a copy: none unless the file was settled before and unchanged after.
fn trusted_after(path: &Path, before: Identity, may: bool) -> Result<Option<Identity>, StageError> {
    let Some(file) = open(path)? else { return Ok(None) };
    let after = identify(&file, path)?;
    Ok((may && after == before).then_some(after))
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::{AttemptId, JobId, Token};
    use std::fs;
    use std::time::Duration;

    fn stage(token: u32) -> StageId {
        StageId { job: JobId(1), token: Token(token), attempt: AttemptId(u128::from(token)) }
    }

    struct Place {
        folder: tempfile::TempDir,
        target: Arc<dyn Target>,
    }

    impl Place {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let target = Arc::new(target::file::FileTarget::new(folder.path().join("target")));
            Self { folder, target }
        }

        fn output(&self, token: u32) -> OutputStage {
            let root = self.folder.path().join(format!("output{token}"));
            fs::create_dir(&root).unwrap();
            OutputStage::new(Arc::clone(&self.target), Arc::new(runtime::TokioSpawner), stage(token), root)
        }
    }

    fn settle() {
        std::thread::sleep(Duration::from_millis(150));
    }

    #[tokio::test]
    async fn an_unchanged_file_keeps_its_part_and_a_changed_one_gets_a_new_one() {
        let place = Place::new();
        let mut output = place.output(1);
        fs::write(output.root.join("same"), "1").unwrap();
        fs::write(output.root.join("grows"), "1").unwrap();
        settle();
        let first = output.seal(false).await.unwrap();
        fs::write(output.root.join("grows"), "12").unwrap();
        let second = output.seal(false).await.unwrap();
        assert_ne!(first.entries[0], second.entries[0]);
        assert_eq!(first.entries[1], second.entries[1]);
        assert_eq!(output.next_number, 4);
    }

    #[tokio::test]
    async fn a_patch_that_keeps_the_size_is_seen_also_right_after_the_copy() {
        let place = Place::new();
        let mut output = place.output(1);
        for text in ["aa", "bb", "cc"] {
            fs::write(output.root.join("f"), text).unwrap();
            let manifest = output.seal(false).await.unwrap();
            let part = manifest.parts().next().unwrap();
            assert_eq!(place.target.read(part).await.unwrap(), text.as_bytes());
        }
    }

    #[tokio::test]
    async fn a_restored_output_is_the_manifest_and_its_files_are_not_sealed_again() {
        let place = Place::new();
        let mut output = place.output(1);
        fs::create_dir(output.root.join("d")).unwrap();
        fs::write(output.root.join("d/f"), "kept").unwrap();
        std::os::unix::fs::symlink("d/f", output.root.join("l")).unwrap();
        let manifest = output.seal(false).await.unwrap();
        fs::write(output.root.join("late"), "not in any checkpoint").unwrap();
        let mut next = place.output(2);
        next.restore(&manifest).await.unwrap();
        assert_eq!(next.seal(true).await.unwrap(), manifest);
        assert_eq!(fs::read_to_string(next.root.join("l")).unwrap(), "kept");
        assert_eq!(next.next_number, 1);
    }

    #[tokio::test]
    async fn a_damaged_part_is_bad_data_when_restored() {
        let place = Place::new();
        let mut output = place.output(1);
        fs::write(output.root.join("f"), "kept").unwrap();
        let manifest = output.seal(false).await.unwrap();
        let part = manifest.parts().next().unwrap();
        let path = place.folder.path().join("target").join(&part.key);
        for damage in [&b"kepT"[..], b"ke", b""] {
            fs::write(&path, damage).unwrap();
            let number = 10 + u32::try_from(damage.len()).unwrap();
            let error = place.output(number).restore(&manifest).await.unwrap_err();
            assert!(error.is_bad_data(), "{error}");
        }
        fs::remove_file(&path).unwrap();
        assert!(place.output(30).restore(&manifest).await.unwrap_err().is_bad_data());
    }
}
