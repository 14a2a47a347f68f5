//! The target on S3, and on anything that speaks as S3 does.
//!
//! Promises what the port promises, on a store that may answer late, twice or not at all: every write is acknowledged
//! by the store before the call returns, is read back where its answer was lost, and is refused by the store where an
//! earlier write of the same key would arrive late. Existence is never taken for completeness: a part counts with its
//! length and digest, a result with the manifest of what was laid out. Lists objects only to sweep and to check a
//! result; what is right, the durable room knows. Needs no object lock, no versions, no events; expects that a read
//! after a write sees it, as S3 does since 2020.
//! The spec speaks of it as `stageState` (`AdvanceAttempt`, `CleanupStage`); protocol §3 says the rest.

mod client;
mod doctor;
mod identity;
mod keys;
mod lay_out;
mod logs;
mod options;
mod read;
mod result;
mod seal;
mod sweep;
mod upload;
mod write;
mod xml;

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::stream::{self, StreamExt, TryStreamExt};
use object_store::client::{HttpConnector, ReqwestConnector};
use protocol::TargetId;

pub use doctor::doctor;
pub use options::{Keys, S3Options};

use crate::manifest::{Manifest, Part};
use crate::open::OpenError;
use crate::port::{Depth, LogReader, LogSink, ResultFile, StageId, Sweep, Target, TargetFault};

/// A bucket, or a prefix in one, that holds stages, results and logs of all jobs.
#[derive(Debug, Clone)]
pub struct S3Target {
    client: Arc<client::Client>,
    marks: Arc<write::Marks>,
}

impl S3Target {
    /// Opens a room; asks nothing of the store yet.
    ///
    /// # Errors
    /// When what is set for it contradicts itself or cannot be read.
    pub fn open(options: S3Options) -> Result<Self, OpenError> {
        Self::open_through(options, &ReqwestConnector::default())
    }

    /// The same through connections of one's own.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn open_through(options: S3Options, connector: &dyn HttpConnector) -> Result<Self, OpenError> {
        let client = Arc::new(client::Client::open(options, connector)?);
        Ok(Self { client, marks: Arc::new(write::Marks::new()) })
    }
}

#[async_trait]
impl Target for S3Target {
    #[doc(alias = "AdvanceAttempt")]
    async fn seal_file(
        &self,
        stage: &StageId,
        number: u64,
        source: &Path,
        // Only a result has it: of its manifest.
        _: bool,
    ) -> Result<Part, TargetFault> {
        self.seal_from(stage, number, source).await
    }

    async fn seal_bytes(&self, stage: &StageId, number: u64, bytes: Vec<u8>) -> Result<Part, TargetFault> {
        self.seal_from_memory(stage, number, bytes).await
    }

    async fn settle(&self, _: &StageId) -> Result<(), TargetFault> {
        // What the store acknowledged is durable, its name too.
        Ok(())
    }

    async fn verify(&self, parts: &[Part], depth: Depth) -> Result<(), TargetFault> {
        keys::all_checked(parts)?;
        let (heavy, light): (Vec<_>, Vec<_>) =
            (0..parts.len()).partition(|place| read::is_heavy(&parts[*place], depth));
        for (places, at_once) in [(light, self.client.options.requests), (heavy, read::HEAVY_AT_ONCE)] {
            let verifying = stream::iter(places).map(|place| self.verify_part(&parts[place], depth));
            verifying.buffer_unordered(at_once).try_collect::<()>().await?;
        }
        Ok(())
    }

    async fn fetch(&self, parts: &[Part], to: &Path, executable: bool) -> Result<(), TargetFault> {
        keys::all_checked(parts)?;
        self.copy_out(parts, to, executable).await
    }

    async fn read(&self, part: &Part) -> Result<Vec<u8>, TargetFault> {
        let mut bytes = Vec::new();
        self.pass(part, &mut bytes).await?;
        Ok(bytes)
    }

    async fn lay_out(&self, stage: &StageId, manifest: &Manifest) -> Result<Manifest, TargetFault> {
        self.lay_out_result(stage, manifest).await
    }

    async fn discard(&self, keys: &BTreeSet<String>) -> Result<(), TargetFault> {
        keys.iter().try_for_each(|key| keys::checked(key).map(drop))?;
        self.delete(keys.iter().cloned().collect()).await
    }

    #[doc(alias = "CleanupStage")]
    async fn sweep(&self, stage: &StageId, keep: &BTreeSet<String>) -> Result<Sweep, TargetFault> {
        self.sweep_stage(stage, keep).await
    }

    async fn old_stages(&self, age: Duration) -> Result<Vec<StageId>, TargetFault> {
        self.find_old_stages(age).await
    }

    async fn open_log(&self, stage: &StageId) -> Result<Box<dyn LogSink>, TargetFault> {
        Ok(self.write_log(stage))
    }

    fn read_log(&self, stage: &StageId) -> Box<dyn LogReader> {
        self.follow_log(stage)
    }

    async fn open_result(
        &self,
        stage: &StageId,
        path: &str,
        range: Range<u64>,
    ) -> Result<Box<dyn ResultFile>, TargetFault> {
        self.open_file(stage, path, range).await
    }

    async fn identity(&self, offered: Option<TargetId>) -> Result<Option<TargetId>, TargetFault> {
        match offered {
            Some(offered) => self.offer_identity(offered).await,
            None => self.read_identity().await,
        }
    }

    fn local_result(&self, _: &StageId) -> Option<PathBuf> {
        None
    }
}
