//! The target, as a process reaches it. Only the worker's own disk is read and written without a link.

use std::collections::BTreeSet;
use std::io;
use std::ops::Range;
use std::path::{Path as FilePath, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use protocol::TargetId;
use target::{Depth, LogReader, LogSink, Manifest, Part, ResultFile, StageId, Sweep, Target, TargetFault};

use super::{Carry, Path, Request};

/// See the module.
pub(crate) struct TargetLink {
    pub(crate) path: Path,
    pub(crate) room: Arc<dyn Target>,
    /// Told when the parts of a checkpoint are sealed.
    pub(crate) settled: Option<Arc<dyn Fn() + Send + Sync>>,
}

impl TargetLink {
    async fn call<T, F>(
        &self,
        doing: &'static str,
        ask: impl Fn(Arc<dyn Target>) -> F + Send + Sync + 'static,
    ) -> Result<T, TargetFault>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, TargetFault>> + Send + 'static,
    {
        let room = Arc::clone(&self.room);
        let carry: Carry<Result<T, TargetFault>> = Arc::new(move || Box::pin(ask(Arc::clone(&room))));
        match self.path.carry(Request { carry, origin: None }).await {
            Ok(answer) => answer,
            Err(_) => Err(TargetFault::new(doing, io::Error::from(io::ErrorKind::TimedOut))),
        }
    }
}

#[async_trait]
impl Target for TargetLink {
    async fn seal_file(
        &self,
        stage: &StageId,
        number: u64,
        source: &FilePath,
        executable: bool,
    ) -> Result<Part, TargetFault> {
        // What is sent is what the file held when it was read.
        let stage = *stage;
        let bytes = std::fs::read(source)
            .map_err(|error| TargetFault::new(format!("read {}", source.display()), error))?;
        self.call("seal a file", move |room| {
            let bytes = bytes.clone();
            async move {
                let _ = executable;
                room.seal_bytes(&stage, number, bytes).await
            }
        })
        .await
    }

    async fn seal_bytes(&self, stage: &StageId, number: u64, bytes: Vec<u8>) -> Result<Part, TargetFault> {
        let stage = *stage;
        self.call("seal bytes", move |room| {
            let bytes = bytes.clone();
            async move { room.seal_bytes(&stage, number, bytes).await }
        })
        .await
    }

    async fn settle(&self, stage: &StageId) -> Result<(), TargetFault> {
        let stage = *stage;
        let settled = self.settled.clone();
        self.call("settle a stage", move |room| {
            let settled = settled.clone();
            async move {
                settled.inspect(|settled| settled());
                room.settle(&stage).await
            }
        })
        .await
    }

    async fn verify(&self, parts: &[Part], depth: Depth) -> Result<(), TargetFault> {
        let parts = parts.to_vec();
        self.call("verify parts", move |room| {
            let parts = parts.clone();
            async move { room.verify(&parts, depth).await }
        })
        .await
    }

    async fn fetch(&self, parts: &[Part], to: &FilePath, executable: bool) -> Result<(), TargetFault> {
        // What was fetched is written to the worker's own disk.
        let mut bytes = Vec::new();
        for part in parts {
            bytes.extend(self.read(part).await?);
        }
        let _ = executable;
        let wrote = std::fs::remove_file(to).or_else(|error| match error.kind() {
            io::ErrorKind::NotFound => Ok(()),
            _ => Err(error),
        });
        wrote
            .and_then(|()| std::fs::write(to, bytes))
            .map_err(|error| TargetFault::new(format!("write {}", to.display()), error))
    }

    async fn read(&self, part: &Part) -> Result<Vec<u8>, TargetFault> {
        let part = part.clone();
        self.call("read a part", move |room| {
            let part = part.clone();
            async move { room.read(&part).await }
        })
        .await
    }

    async fn lay_out(&self, stage: &StageId, manifest: &Manifest) -> Result<Manifest, TargetFault> {
        let (stage, manifest) = (*stage, manifest.clone());
        self.call("lay a result out", move |room| {
            let manifest = manifest.clone();
            async move { room.lay_out(&stage, &manifest).await }
        })
        .await
    }

    async fn discard(&self, keys: &BTreeSet<String>) -> Result<(), TargetFault> {
        let keys = keys.clone();
        self.call("discard parts", move |room| {
            let keys = keys.clone();
            async move { room.discard(&keys).await }
        })
        .await
    }

    async fn sweep(&self, stage: &StageId, keep: &BTreeSet<String>) -> Result<Sweep, TargetFault> {
        let (stage, keep) = (*stage, keep.clone());
        self.call("sweep a stage", move |room| {
            let keep = keep.clone();
            async move { room.sweep(&stage, &keep).await }
        })
        .await
    }

    async fn old_stages(&self, age: Duration) -> Result<Vec<StageId>, TargetFault> {
        self.call("find old stages", move |room| async move { room.old_stages(age).await }).await
    }

    async fn open_log(&self, stage: &StageId) -> Result<Box<dyn LogSink>, TargetFault> {
        let stage = *stage;
        self.call("open a log", move |room| async move { room.open_log(&stage).await }).await
    }

    fn read_log(&self, stage: &StageId) -> Box<dyn LogReader> {
        self.room.read_log(stage)
    }

    async fn open_result(
        &self,
        stage: &StageId,
        path: &str,
        range: Range<u64>,
    ) -> Result<Box<dyn ResultFile>, TargetFault> {
        self.room.open_result(stage, path, range).await
    }

    async fn identity(&self, offered: Option<TargetId>) -> Result<Option<TargetId>, TargetFault> {
        self.call("ask which target it is", move |room| async move { room.identity(offered).await }).await
    }

    fn local_result(&self, stage: &StageId) -> Option<PathBuf> {
        self.room.local_result(stage)
    }
}
