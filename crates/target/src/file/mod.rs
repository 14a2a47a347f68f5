//! The target on a folder.
//!
//! Promises: a part, a laid-out result and their names are on disk (fsync of files and folders) before the
//! call that makes them returns. Own code rather than an object-store library because results keep their
//! own names and are laid out by hard links (docs/decisions/0002).

mod identity;
mod lay_out;
mod parts;
mod result;
mod sweep;

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Duration;

use async_trait::async_trait;
use protocol::TargetId;

use crate::logs::{FileLogReader, LogWriter};
use crate::manifest::{Manifest, Part};
use crate::port::{Depth, LogReader, LogSink, ResultFile, StageId, Sweep, Target, TargetFault};

/// A folder that holds stages, results and logs of all jobs.
#[derive(Debug, Clone)]
pub struct FileTarget {
    root: PathBuf,
}

impl FileTarget {
    /// A target in this folder, which is made with the first write.
    #[must_use]
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    fn stage_path(&self, stage: &StageId) -> PathBuf {
        self.root.join(stage.prefix())
    }

    fn log_path(&self, stage: &StageId) -> PathBuf {
        self.root.join(stage.job.to_string()).join("logs").join(stage.name())
    }

    /// Runs blocking file work beside the async tasks.
    async fn blocking<T, F>(&self, work: F) -> Result<T, TargetFault>
    where
        T: Send + 'static,
        F: FnOnce(&Self) -> Result<T, TargetFault> + Send + 'static,
    {
        let target = self.clone();
        match tokio::task::spawn_blocking(move || work(&target)).await {
            Ok(result) => result,
            Err(error) => Err(TargetFault::new("finish file work", std::io::Error::other(error))),
        }
    }
}

#[async_trait]
impl Target for FileTarget {
    #[doc(alias = "AdvanceAttempt")]
    async fn seal_file(
        &self,
        stage: &StageId,
        number: u64,
        source: &Path,
        executable: bool,
    ) -> Result<Part, TargetFault> {
        let (stage, source) = (*stage, source.to_owned());
        self.blocking(move |target| target.copy_in(&stage, number, &source, executable)).await
    }

    async fn seal_bytes(&self, stage: &StageId, number: u64, bytes: Vec<u8>) -> Result<Part, TargetFault> {
        let stage = *stage;
        self.blocking(move |target| target.write_in(&stage, number, &bytes)).await
    }

    async fn settle(&self, stage: &StageId) -> Result<(), TargetFault> {
        let stage = *stage;
        self.blocking(move |target| target.sync_names(&stage)).await
    }

    async fn verify(&self, parts: &[Part], depth: Depth) -> Result<(), TargetFault> {
        let parts = parts.to_vec();
        self.blocking(move |target| parts.iter().try_for_each(|part| target.verify_part(part, depth))).await
    }

    async fn fetch(&self, parts: &[Part], to: &Path, executable: bool) -> Result<(), TargetFault> {
        let (parts, to) = (parts.to_vec(), to.to_owned());
        self.blocking(move |target| target.copy_out(&parts, &to, executable)).await
    }

    async fn read(&self, part: &Part) -> Result<Vec<u8>, TargetFault> {
        let part = part.clone();
        self.blocking(move |target| target.read_part(&part)).await
    }

    async fn lay_out(&self, stage: &StageId, manifest: &Manifest) -> Result<Manifest, TargetFault> {
        let (stage, manifest) = (*stage, manifest.clone());
        self.blocking(move |target| target.lay_out_result(&stage, &manifest)).await
    }

    async fn discard(&self, keys: &BTreeSet<String>) -> Result<(), TargetFault> {
        let keys = keys.clone();
        self.blocking(move |target| keys.iter().try_for_each(|key| target.delete_part(key))).await
    }

    #[doc(alias = "CleanupStage")]
    async fn sweep(&self, stage: &StageId, keep: &BTreeSet<String>) -> Result<Sweep, TargetFault> {
        let (stage, keep) = (*stage, keep.clone());
        self.blocking(move |target| target.sweep_stage(&stage, &keep)).await
    }

    async fn old_stages(&self, age: Duration) -> Result<Vec<StageId>, TargetFault> {
        self.blocking(move |target| target.find_old_stages(age)).await
    }

    async fn open_log(&self, stage: &StageId) -> Result<Box<dyn LogSink>, TargetFault> {
        Ok(Box::new(LogWriter::new(self.log_path(stage))))
    }

    fn read_log(&self, stage: &StageId) -> Box<dyn LogReader> {
        Box::new(FileLogReader::new(self.log_path(stage)))
    }

    async fn open_result(
        &self,
        stage: &StageId,
        path: &str,
        range: Range<u64>,
    ) -> Result<Box<dyn ResultFile>, TargetFault> {
        let (stage, path) = (*stage, path.to_owned());
        self.blocking(move |target| target.open_file(&stage, &path, range)).await
    }

    async fn identity(&self, offered: Option<TargetId>) -> Result<Option<TargetId>, TargetFault> {
        self.blocking(move |target| match offered {
            Some(offered) => target.offer_identity(offered),
            None => target.read_identity(),
        })
        .await
    }

    fn local_result(&self, stage: &StageId) -> Option<PathBuf> {
        Some(self.stage_path(stage).join("out"))
    }
}
