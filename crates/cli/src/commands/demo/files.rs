//! Which files the demo takes, and which job takes which.

use std::fs;
use std::path::{Path, PathBuf};

use crate::failure::{Failure, code};

/// At most so many files.
pub(super) const MOST_FILES: usize = 480;
/// A larger file is passed over.
pub(super) const LARGEST: u64 = 512 * 1024;
/// Every job gets at least so many, if need be by taking files twice.
const FEWEST_EACH: usize = 6;
/// Folders that hold nothing a person wrote.
const PASSED_OVER: [&str; 4] = ["target", "node_modules", ".git", ".remora"];

/// Files dealt to jobs.
pub(super) struct Parts {
    /// Paths relative to the folder, job by job.
    pub(super) jobs: Vec<Vec<PathBuf>>,
    /// Different files in all.
    pub(super) files: usize,
    /// Bytes in them.
    pub(super) bytes: u64,
}

impl Parts {
    /// Files to do in all jobs together.
    pub(super) fn steps(&self) -> u64 {
        u64::try_from(self.jobs.iter().map(Vec::len).sum::<usize>()).unwrap_or(0)
    }
}

/// Walks the folder, copies what it takes to `copies`, so that nobody's editing meanwhile changes what is
/// right, and deals the files to so many jobs.
pub(super) fn choose(folder: &Path, jobs: usize, copies: &Path) -> Result<Parts, Failure> {
    let mut found = Vec::new();
    walk(folder, Path::new(""), &mut found).map_err(|error| {
        Failure::new(code::FAILED, format!("cannot read the folder {}: {error}", folder.display()))
    })?;
    if found.is_empty() {
        return Err(Failure::new(
            code::FAILED,
            format!(
                "the folder {} has no files of at most {} KB to work on",
                folder.display(),
                LARGEST / 1024
            ),
        )
        .hint("name a folder with some: remora demo FOLDER"));
    }
    found.sort();
    thin_out(&mut found);
    let mut bytes = 0;
    for (path, _) in &found {
        bytes += copy(&folder.join(path), &copies.join(path)).map_err(|error| {
            Failure::new(code::FAILED, format!("cannot copy {}: {error}", path.display()))
        })?;
    }
    let files = found.len();
    let wanted = files.max(jobs * FEWEST_EACH);
    let mut dealt = vec![Vec::new(); jobs];
    for (index, (path, _)) in found.into_iter().cycle().take(wanted).enumerate() {
        // One job may meet a file twice only in a folder smaller than a job's part: then once is enough.
        if !dealt[index % jobs].contains(&path) {
            dealt[index % jobs].push(path);
        }
    }
    Ok(Parts { jobs: dealt, files, bytes })
}

fn copy(from: &Path, to: &Path) -> std::io::Result<u64> {
    if let Some(parent) = to.parent() {
        fs::create_dir_all(parent)?;
    }
    fs::copy(from, to)
}

/// Every n-th file of too many, so that all of the tree is seen.
fn thin_out(found: &mut Vec<(PathBuf, u64)>) {
    let count = found.len();
    if count > MOST_FILES {
        let mut index = 0;
        found.retain(|_| {
            let keep = index * MOST_FILES / count != (index + 1) * MOST_FILES / count;
            index += 1;
            keep
        });
    }
}

fn walk(root: &Path, inside: &Path, found: &mut Vec<(PathBuf, u64)>) -> std::io::Result<()> {
    for entry in fs::read_dir(root.join(inside))? {
        let entry = entry?;
        let name = entry.file_name();
        let Some(text) = name.to_str() else { continue };
        let path = inside.join(&name);
        let kind = entry.file_type()?;
        if kind.is_dir() {
            if !PASSED_OVER.contains(&text) {
                // A folder that may not be read is not this demo's business.
                let _ = walk(root, &path, found);
            }
        } else if kind.is_file() {
            let size = entry.metadata()?.len();
            if size <= LARGEST && fs::File::open(root.join(&path)).is_ok() {
                found.push((path, size));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_job_has_work_and_what_nobody_wrote_is_passed_over() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a", "b/c", ".git/x", "target/y", "large"] {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "text").unwrap();
        }
        fs::File::create(folder.path().join("large")).unwrap().set_len(LARGEST + 1).unwrap();
        let copies = tempfile::tempdir().unwrap();
        let parts = choose(folder.path(), 20, copies.path()).unwrap();
        assert_eq!(fs::read_to_string(copies.path().join("b/c")).unwrap(), "text");
        assert_eq!((parts.files, parts.bytes, parts.jobs.len()), (2, 8, 20));
        assert!(parts.jobs.iter().all(|part| !part.is_empty()));
    }

    #[test]
    fn too_many_files_are_thinned_out_evenly_and_none_is_an_error() {
        let mut found: Vec<_> = (0..10_000).map(|index| (PathBuf::from(format!("{index:05}")), 1)).collect();
        thin_out(&mut found);
        assert_eq!(found.len(), MOST_FILES);
        assert!(found[MOST_FILES - 1].0.as_os_str() > "09900");
        let empty = tempfile::tempdir().unwrap();
        let copies = tempfile::tempdir().unwrap();
        assert!(choose(empty.path(), 20, copies.path()).is_err());
        assert!(choose(Path::new("/no/such/folder"), 20, copies.path()).is_err());
    }
}
