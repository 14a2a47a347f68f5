//! Taking away what nothing refers to.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime};

use super::FileTarget;
use crate::port::{StageId, Sweep, TargetFault};

impl FileTarget {
    pub(super) fn sweep_stage(&self, stage: &StageId, keep: &BTreeSet<String>) -> Result<Sweep, TargetFault> {
        let path = self.stage_path(stage);
        let mut sweep = Sweep::default();
        sweep_folder(&path, Some(&stage.prefix()), keep, &mut sweep)?;
        if sweep.kept == 0 {
            remove_if_empty(&path);
        }
        if let Some(job) = path.parent() {
            remove_if_empty(job);
        }
        Ok(sweep)
    }

    pub(super) fn find_old_stages(&self, age: Duration) -> Result<Vec<StageId>, TargetFault> {
        let mut stages = Vec::new();
        for (job, path) in entries(&self.root)? {
            let Ok(job) = job.parse() else { continue };
            for (name, path) in entries(&path)? {
                let Some((token, attempt)) = name.split_once('-') else { continue };
                let (Ok(token), Ok(attempt)) = (token.parse(), attempt.parse()) else { continue };
                if older_than(&path, age) {
                    stages.push(StageId { job, token: protocol::Token(token), attempt });
                }
            }
        }
        Ok(stages)
    }
}

fn older_than(path: &Path, age: Duration) -> bool {
    let folders = [path.to_owned(), path.join("p"), path.join("out")];
    folders.iter().all(|folder| match fs::metadata(folder).and_then(|metadata| metadata.modified()) {
        Ok(modified) => SystemTime::now().duration_since(modified).is_ok_and(|since| since > age),
        Err(_) => true,
    })
}

fn entries(folder: &Path) -> Result<Vec<(String, std::path::PathBuf)>, TargetFault> {
    let listed = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => return Ok(Vec::new()),
        listed => listed.map_err(|error| TargetFault::new(format!("list {}", folder.display()), error))?,
    };
    Ok(listed
        .flatten()
        .filter_map(|entry| Some((entry.file_name().into_string().ok()?, entry.path())))
        .collect())
}

fn remove_if_empty(folder: &Path) {
    // Refused while something is in it, which is what is wanted.
    let _ = fs::remove_dir(folder);
}

/// `prefix`: the folder's own key; `None` where a name in it is no text, so that nothing in it can be kept.
fn sweep_folder(
    folder: &Path,
    prefix: Option<&str>,
    keep: &BTreeSet<String>,
    sweep: &mut Sweep,
) -> Result<(), TargetFault> {
    let unlisted = |error| TargetFault::new(format!("list {}", folder.display()), error);
    let listed = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        listed => listed.map_err(unlisted)?,
    };
    for entry in listed {
        let entry = entry.map_err(unlisted)?;
        let path = entry.path();
        let name = entry.file_name().into_string().ok();
        let key = prefix.zip(name).map(|(prefix, name)| format!("{prefix}/{name}"));
        if key.as_ref().is_some_and(|key| keep.contains(key)) {
            sweep.kept += 1;
        } else if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            sweep_folder(&path, key.as_deref(), keep, sweep)?;
            remove_if_empty(&path);
        } else {
            match fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(TargetFault::new(format!("delete {}", path.display()), error));
                }
                _ => sweep.deleted += 1,
            }
        }
    }
    Ok(())
}
