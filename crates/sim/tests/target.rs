//! The target in memory answers as every target does.
#![expect(clippy::unwrap_used, reason = "these are tests")]

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use remora_sim::target_room::{MemoryTarget, Thing};
use target::conformance::Fixture;
use target::{StageId, Target};
use tempfile::TempDir;

struct Memory {
    room: Arc<MemoryTarget>,
    local: TempDir,
}

impl Fixture for Memory {
    fn target(&self) -> Arc<dyn Target> {
        Arc::clone(&self.room) as Arc<dyn Target>
    }

    fn local(&self) -> PathBuf {
        self.local.path().to_owned()
    }

    fn peek(&self, key: &str) -> Option<Vec<u8>> {
        if let Some(log) = self.room.logs().remove(key) {
            return Some(log);
        }
        match self.room.peek(key)? {
            Thing::Bytes(bytes, _) => Some(bytes),
            Thing::Folder | Thing::Link(_) => None,
        }
    }

    fn change(&self, key: &str, bytes: Option<&[u8]>) {
        self.room.change(key, bytes.map(|bytes| Thing::Bytes(bytes.to_vec(), false)));
    }

    fn keys(&self, prefix: &str) -> BTreeSet<String> {
        let prefix = format!("{prefix}/");
        self.room
            .keys()
            .into_iter()
            .chain(self.room.logs().into_keys())
            .filter(|key| key.starts_with(&prefix))
            .collect()
    }

    fn results_are_local(&self) -> bool {
        false
    }

    fn make_older(&self, stage: &StageId, by: Duration) {
        self.room.make_older(stage, by);
    }
}

fn fixture() -> Arc<dyn Fixture> {
    // The clock began long ago, so that something can be older than it is.
    let start = Instant::now();
    let clock = move || Duration::from_secs(10_000_000) + start.elapsed();
    Arc::new(Memory {
        room: Arc::new(MemoryTarget::new(Arc::new(clock))),
        local: tempfile::tempdir().unwrap(),
    })
}

target::target_conformance!(crate::fixture());
