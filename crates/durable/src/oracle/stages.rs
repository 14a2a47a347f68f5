//! Stages of ended attempts: which are due for a sweep, and what must be kept. Not the spec's state.

use super::Shelf;
use super::job::{JobRow, StageNote};
use crate::{Checkpoint, Document, StageSwept, SweepStage};

impl Shelf {
    pub(super) fn stage_swept(&mut self, report: &StageSwept) {
        let Some(row) = self.jobs.get_mut(&report.job) else { return };
        let terminal = row.terminal();
        row.stages.retain_mut(|stage| {
            if stage.attempt != report.attempt {
                return true;
            }
            stage.owed = stage.owed.saturating_sub(1);
            // After the job's end, what was kept then stays: the result.
            report.kept && !(terminal && stage.owed == 0)
        });
    }

    pub(super) fn stages_to_sweep(&self, limit: usize) -> Vec<SweepStage> {
        let mut due: Vec<_> = self
            .jobs
            .iter()
            .flat_map(|(job, row)| row.stages.iter().map(move |stage| (*job, row, stage)))
            .filter(|(_, _, stage)| stage.owed > 0)
            .collect();
        due.sort_by_key(|(_, _, stage)| (!stage.stopped, stage.ended_at, stage.attempt));
        let view = |(job, row, stage): &(protocol::JobId, &JobRow, &StageNote)| SweepStage {
            job: *job,
            attempt: stage.attempt,
            token: stage.token,
            ended_ms_ago: self.now.since_ms(stage.ended_at),
            stopped: stage.stopped,
            committed: stage.committed,
            terminal: row.terminal(),
            keep: keep(row),
        };
        due.iter().take(limit).map(view).collect()
    }
}

/// Manifests, and states that lie on the target, of all that is still referred to.
fn keep(row: &JobRow) -> Vec<Document> {
    let inherited = row.authority().and_then(|(_, note)| row.checkpoints.get(&note.inherited));
    let checkpoints = [row.valid_checkpoint(), inherited.map(|stored| &stored.checkpoint)];
    let mut kept = Vec::new();
    for checkpoint in checkpoints.into_iter().flatten() {
        keep_checkpoint(checkpoint, &mut kept);
    }
    if let Some(result) = &row.result {
        keep_document(&result.record.manifest, &mut kept);
    }
    kept
}

fn keep_checkpoint(checkpoint: &Checkpoint, kept: &mut Vec<Document>) {
    keep_document(&checkpoint.manifest, kept);
    if matches!(checkpoint.state, Document::Stored { .. }) {
        keep_document(&checkpoint.state, kept);
    }
}

fn keep_document(document: &Document, kept: &mut Vec<Document>) {
    if *document != Document::empty() && !kept.contains(document) {
        kept.push(document.clone());
    }
}
