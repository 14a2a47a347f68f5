//! Faults of the target.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use protocol::TargetId;
use target::{
    Depth, Entry, LogReader, LogSink, Manifest, Node, Part, ResultFile, StageId, Sweep, Target, TargetFault,
};

use super::Planted;
use crate::core::{Core, WORLD};

pub(super) struct PlantedTarget {
    pub(super) inner: Arc<dyn Target>,
    pub(super) fault: Planted,
    pub(super) core: Arc<Core>,
}

/// What a manifest will be once it is laid out.
fn promised(stage: &StageId, manifest: &Manifest) -> Manifest {
    let entry = |entry: &Entry| {
        let key = format!("{}/out/{}", stage.prefix(), entry.path);
        let node = match &entry.node {
            Node::File { parts, executable } => {
                let part = |part: &Part| Part { key: key.clone(), ..part.clone() };
                Node::File { parts: parts.iter().map(part).collect(), executable: *executable }
            }
            other => other.clone(),
        };
        Entry { path: entry.path.clone(), node }
    };
    Manifest { entries: manifest.entries.iter().map(entry).collect() }
}

#[async_trait]
impl Target for PlantedTarget {
    async fn seal_file(
        &self,
        stage: &StageId,
        number: u64,
        source: &Path,
        executable: bool,
    ) -> Result<Part, TargetFault> {
        self.inner.seal_file(stage, number, source, executable).await
    }

    async fn seal_bytes(&self, stage: &StageId, number: u64, bytes: Vec<u8>) -> Result<Part, TargetFault> {
        self.inner.seal_bytes(stage, number, bytes).await
    }

    async fn settle(&self, stage: &StageId) -> Result<(), TargetFault> {
        self.inner.settle(stage).await
    }

    async fn verify(&self, parts: &[Part], depth: Depth) -> Result<(), TargetFault> {
        self.inner.verify(parts, depth).await
    }

    async fn fetch(&self, parts: &[Part], to: &Path, executable: bool) -> Result<(), TargetFault> {
        self.inner.fetch(parts, to, executable).await
    }

    async fn read(&self, part: &Part) -> Result<Vec<u8>, TargetFault> {
        self.inner.read(part).await
    }

    async fn lay_out(&self, stage: &StageId, manifest: &Manifest) -> Result<Manifest, TargetFault> {
        if self.fault != Planted::PublishBeforeComplete {
            return self.inner.lay_out(stage, manifest).await;
        }
        let (inner, core) = (Arc::clone(&self.inner), Arc::clone(&self.core));
        let (of, what) = (*stage, manifest.clone());
        let later = async move {
            core.sleep(Duration::from_millis(200)).await;
            // It is too late for whoever asked.
            let _ = inner.lay_out(&of, &what).await;
        };
        self.core.spawn(WORLD, Box::pin(later));
        Ok(promised(stage, manifest))
    }

    async fn discard(&self, keys: &BTreeSet<String>) -> Result<(), TargetFault> {
        self.inner.discard(keys).await
    }

    async fn sweep(&self, stage: &StageId, keep: &BTreeSet<String>) -> Result<Sweep, TargetFault> {
        self.inner.sweep(stage, keep).await
    }

    async fn old_stages(&self, age: Duration) -> Result<Vec<StageId>, TargetFault> {
        self.inner.old_stages(age).await
    }

    async fn open_log(&self, stage: &StageId) -> Result<Box<dyn LogSink>, TargetFault> {
        self.inner.open_log(stage).await
    }

    fn read_log(&self, stage: &StageId) -> Box<dyn LogReader> {
        self.inner.read_log(stage)
    }

    async fn open_result(
        &self,
        stage: &StageId,
        path: &str,
        range: Range<u64>,
    ) -> Result<Box<dyn ResultFile>, TargetFault> {
        self.inner.open_result(stage, path, range).await
    }

    async fn identity(&self, offered: Option<TargetId>) -> Result<Option<TargetId>, TargetFault> {
        self.inner.identity(offered).await
    }

    fn local_result(&self, stage: &StageId) -> Option<PathBuf> {
        self.inner.local_result(stage)
    }
}
