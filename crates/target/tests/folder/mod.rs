//! The target on a folder, as the suite's fixture.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use remora_target::conformance::Fixture;
use remora_target::file::FileTarget;
use remora_target::{StageId, Target};
use tempfile::TempDir;

pub(crate) struct Folder {
    folder: TempDir,
}

impl Folder {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("local")).unwrap();
        Self { folder }
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.folder.path().join("target")
    }
}

impl Fixture for Folder {
    fn target(&self) -> Arc<dyn Target> {
        Arc::new(FileTarget::new(self.root()))
    }

    fn local(&self) -> PathBuf {
        self.folder.path().join("local")
    }

    fn peek(&self, key: &str) -> Option<Vec<u8>> {
        fs::read(self.root().join(key)).ok()
    }

    fn change(&self, key: &str, bytes: Option<&[u8]>) {
        let path = self.root().join(key);
        match bytes {
            Some(bytes) => {
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, bytes).unwrap();
            }
            None => fs::remove_file(path).unwrap(),
        }
    }

    fn keys(&self, prefix: &str) -> BTreeSet<String> {
        let mut keys = BTreeSet::new();
        gather(&self.root().join(prefix), prefix, &mut keys);
        keys
    }

    fn results_are_local(&self) -> bool {
        true
    }

    fn make_older(&self, stage: &StageId, by: Duration) {
        let then = SystemTime::now() - by;
        let path = self.root().join(stage.prefix());
        for folder in [path.join("p"), path.join("out"), path].iter().filter(|folder| folder.exists()) {
            fs::File::open(folder).unwrap().set_modified(then).unwrap();
        }
    }
}

fn gather(folder: &Path, prefix: &str, keys: &mut BTreeSet<String>) {
    let Ok(listed) = fs::read_dir(folder) else { return };
    for entry in listed {
        let entry = entry.unwrap();
        let key = format!("{prefix}/{}", entry.file_name().to_string_lossy());
        if entry.file_type().unwrap().is_dir() {
            let before = keys.len();
            gather(&entry.path(), &key, keys);
            if keys.len() == before {
                keys.insert(format!("{key}/"));
            }
        } else {
            keys.insert(key);
        }
    }
}
