//! Stages of ended attempts: everything goes but what something durable refers to.

use std::collections::BTreeSet;
use std::time::Duration;

use durable::{Document, StageSwept, SweepStage};
use protocol::Fault;
use target::{Manifest, Part, StageId, TargetFault};

use super::Cleaner;
use crate::ground::count;

const PAGE: usize = 200;
/// Death is presumed so many lease lengths after the revocation (protocol §3).
const PRESUMED_LEASES: u32 = 10;

fn fault(error: TargetFault) -> Fault {
    Fault::unreachable("sweep a stage", error)
}

impl Cleaner {
    /// One page; whether there may be more.
    #[doc(alias = "CleanupStage")]
    pub(super) async fn sweep_stages(&self) -> Result<(u64, bool), Fault> {
        let due = self.ground.rooms.durable.stages_to_sweep(PAGE).await?;
        let mut swept = Vec::new();
        for stage in &due {
            let ended = Duration::from_millis(stage.ended_ms_ago);
            if !stage.stopped && ended < self.ground.lease() * PRESUMED_LEASES {
                continue;
            }
            match self.sweep_stage(stage).await {
                Ok(kept) => swept.push(StageSwept { job: stage.job, attempt: stage.attempt, kept }),
                Err(error) => {
                    tracing::warn!(job = %stage.job, attempt = %stage.attempt, error = %error, "cannot sweep a stage");
                }
            }
        }
        if !swept.is_empty() {
            let sent = self.ground.send();
            sent.of(self.ground.rooms.durable.stages_swept(&sent.origin, &swept)).await?;
        }
        Ok((count(swept.len()), !swept.is_empty() && due.len() == PAGE))
    }

    /// Whether something was kept that a later sweep has to take.
    async fn sweep_stage(&self, stage: &SweepStage) -> Result<bool, Fault> {
        let id = StageId { job: stage.job, token: stage.token, attempt: stage.attempt };
        let mut keep = BTreeSet::new();
        for document in &stage.keep {
            self.keep_document(document, &mut keep).await?;
        }
        if stage.committed {
            keep.insert(format!("{}/out", id.prefix()));
        }
        let sweep = self.ground.rooms.target.sweep(&id, &keep).await.map_err(fault)?;
        if sweep.deleted > 0 {
            tracing::debug!(job = %stage.job, token = %stage.token, deleted = sweep.deleted, kept = sweep.kept, "swept a stage");
        }
        Ok(sweep.kept > 0 && !stage.terminal)
    }

    /// The document itself, where it lies on the target, and every part that it names as a manifest.
    async fn keep_document(&self, document: &Document, keep: &mut BTreeSet<String>) -> Result<(), Fault> {
        let bytes = match document {
            Document::Inline(bytes) => bytes.clone(),
            Document::Stored { key, length, digest } => {
                keep.insert(key.clone());
                self.ground.rooms.target.read(&Part::stored(key, *length, *digest)).await.map_err(fault)?
            }
        };
        // A state is no manifest and names no parts.
        if let Ok(manifest) = Manifest::decode(&bytes) {
            keep.extend(manifest.keys());
        }
        Ok(())
    }

    /// Old stages that no row asked to sweep: those of jobs that have ended, or that nobody knows.
    pub(super) async fn sweep_leftovers(&self, stage_ttl: Duration) -> Result<u64, Fault> {
        let old = self.ground.rooms.target.old_stages(stage_ttl).await.map_err(fault)?;
        let mut taken = 0;
        for id in old {
            let view = self.ground.rooms.durable.job(id.job).await?;
            let needed = view.is_some_and(|view| {
                let committed = view.result.is_some_and(|result| result.attempt == id.attempt);
                committed || !view.summary.phase.is_terminal()
            });
            if !needed {
                self.ground.rooms.target.sweep(&id, &BTreeSet::new()).await.map_err(fault)?;
                taken += 1;
            }
        }
        Ok(taken)
    }
}
