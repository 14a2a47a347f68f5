//! The three rooms side by side.

use durable::{AttemptView, Checkpoint, ProgramExit, RunningAttempt};
use protocol::JobId;
use serde_json::{Value, json};
use target::{Depth, Digest, StageId};

use super::checks::{self, Laid};
use super::facts::{Facts, Known};
use crate::direct::Direct;
use crate::direct::jobs::{stage_of, verdict_word};
use crate::port::Answer;
use crate::v1::{Code, Inspection, Moment};

/// Parts of a result that are looked for at most.
const PARTS: usize = 1_000;
/// Stages due for a sweep that are read to find the job's.
const SWEEPS: usize = 1_000;

fn moment(at: protocol::Timestamp) -> Value {
    Value::String(Moment(at).to_string())
}

fn attempt(attempt: &AttemptView) -> Value {
    json!({
        "attempt": attempt.token.0,
        "attempt_id": attempt.attempt,
        "worker": attempt.worker,
        "verdict": verdict_word(attempt.verdict),
        "started_at": moment(attempt.started_at),
        "ended_at": attempt.ended_at.map(moment),
        "resumed_from": attempt.resumed_from,
        "exit_code": match attempt.exit { Some(ProgramExit::Code(code)) => Some(code), _ => None },
        "signal": match attempt.exit { Some(ProgramExit::Signal(signal)) => Some(signal), _ => None },
        "error": attempt.error,
    })
}

fn running(running: &RunningAttempt) -> Value {
    json!({
        "attempt": running.token.0,
        "attempt_id": running.attempt,
        "worker": running.worker,
        "epoch": running.epoch,
        "phase": running.phase,
        "cancel_requested_at": running.cancel_requested_at.map(moment),
    })
}

fn checkpoint(checkpoint: &Checkpoint) -> Value {
    json!({
        "revision": checkpoint.revision,
        "attempt": checkpoint.token.0,
        "sealed": checkpoint.progress,
        "at": moment(checkpoint.at),
    })
}

fn coordination(facts: &Facts, known: &Known) -> Value {
    let holding = known.holding.as_ref();
    let leases: Vec<Value> = holding
        .map(|held| held.leases.as_slice())
        .unwrap_or_default()
        .iter()
        .map(|lease| {
            json!({
                "attempt": lease.token.0, "attempt_id": lease.attempt, "worker": lease.worker, "age_ms": lease.age_ms,
            })
        })
        .collect();
    let reservation = holding
        .and_then(|held| held.reservation)
        .map(|(reservation, worker)| json!({ "reservation": reservation.to_string(), "worker": worker }));
    let window = facts.window();
    json!({
        "epoch": known.pool.mark.epoch,
        "open": known.pool.open,
        "grace_over": known.pool.grace_over,
        "leases": leases,
        "reservation": reservation,
        "cancel_notice": holding.is_some_and(|held| held.notice),
        "progress_shown": holding.is_some_and(|held| held.progress),
        "window": {
            "queue": window.queue, "kind": window.kind, "priority": window.priority.0,
            "entries": known.entries(&window),
        },
    })
}

impl Direct {
    pub(in crate::direct) async fn lay_side_by_side(&self, job: JobId) -> Answer<Inspection> {
        let facts = self.facts(job).await?;
        let kept = match facts.view.checkpoint_revision {
            0 => None,
            _ => self.rooms.reads.checkpoint(job).await?,
        };
        let offered = !self.rooms.reads.dispatch_read_jobs(&[job]).await?.is_empty();
        let laid = self.laid_out(&facts).await;
        let evidence = checks::Evidence { facts: &facts, checkpoint: kept.as_ref(), offered, laid: &laid };
        Ok(Inspection {
            job,
            durable: self.durable_side(&facts, kept.as_ref(), offered).await?,
            coordination: facts.known().map(|known| coordination(&facts, known)),
            target: self.target_side(&facts, &laid).await,
            checks: checks::evaluate(&evidence),
        })
    }

    async fn durable_side(&self, facts: &Facts, kept: Option<&Checkpoint>, offered: bool) -> Answer<Value> {
        let (view, job) = (&facts.view, &facts.view.summary);
        let sweeps = self.rooms.reads.stages_to_sweep(SWEEPS).await?;
        let stages: Vec<Value> = sweeps
            .iter()
            .filter(|stage| stage.job == job.job)
            .map(|stage| {
                json!({
                    "attempt": stage.token.0, "attempt_id": stage.attempt, "ended_ms_ago": stage.ended_ms_ago,
                    "stopped": stage.stopped, "committed": stage.committed,
                })
            })
            .collect();
        Ok(json!({
            "job": {
                "phase": job.phase, "kind": job.kind, "queue": job.queue, "priority": job.priority.0,
                "token": job.token.0, "max_attempts": job.max_attempts, "revision": view.revision,
                "created_at": moment(job.created_at), "due_at": moment(job.due_at),
                "finished_at": job.finished_at.map(moment), "set_aside": job.set_aside, "offered": offered,
                "retry_of": view.retry_of,
            },
            "running": facts.running.as_ref().map(running),
            "attempts": view.attempts.iter().map(attempt).collect::<Vec<_>>(),
            "checkpoint": kept.map(checkpoint),
            "result": view.result.as_ref().map(|result| json!({
                "attempt": result.token.0, "attempt_id": result.attempt,
                "digest": Digest(result.record.digest).to_string(),
                "files": result.record.files, "bytes": result.record.bytes,
            })),
            "stages_to_sweep": stages,
            "pool": { "epoch": facts.row.epoch, "open": facts.row.open, "lease_ms": facts.row.lease_ms },
        }))
    }

    /// Whether the published result lies on the target as its manifest says.
    async fn laid_out(&self, facts: &Facts) -> Laid {
        let Some(result) = &facts.view.result else { return Laid::None };
        let manifest = match self.manifests.of(self.rooms.target.as_ref(), result).await {
            Ok(manifest) => manifest,
            Err(problem) if problem.code == Code::Damaged => return Laid::Damaged(problem.to_string()),
            Err(problem) => return Laid::Away(problem.to_string()),
        };
        let parts: Vec<_> = manifest.parts().take(PARTS).cloned().collect();
        match self.rooms.target.verify(&parts, Depth::UpTo(0)).await {
            Ok(()) => Laid::Whole { looked_at: parts.len(), of: manifest.parts().count() },
            Err(fault) if fault.bad_data => Laid::Damaged(protocol::told(&fault)),
            Err(fault) => Laid::Away(protocol::told(&fault)),
        }
    }

    async fn target_side(&self, facts: &Facts, laid: &Laid) -> Option<Value> {
        if let Laid::Away(_) = laid {
            return None;
        }
        let last = facts.view.attempts.last();
        let log = match last {
            None => Value::Null,
            Some(last) => {
                let stage = StageId { job: facts.view.summary.job, token: last.token, attempt: last.attempt };
                let begun = self.rooms.target.read_log(&stage).read_more().await.ok()?;
                json!({ "attempt": last.token.0, "written": !begun.is_empty() })
            }
        };
        let result = facts.view.result.as_ref().map(|result| {
            let path = self.rooms.target.local_result(&stage_of(result));
            json!({
                "stage": stage_of(result).prefix(),
                "path": path.map(|path| path.display().to_string()),
                "as_in_the_manifest": matches!(laid, Laid::Whole { .. }),
                "told": laid.to_string(),
            })
        });
        Some(json!({ "result": result, "log": log }))
    }
}
