//! Reads for people.

use std::collections::BTreeMap;

use async_trait::async_trait;
use protocol::machine::Attempt;
use protocol::{Fault, JobId, JobSpec, Token};

use super::OracleRoom;
use super::job::{JOB, JobRow};
use crate::{AttemptView, JobFilter, JobPage, JobSummary, JobView, Listing, PhaseCount, PublishedResult};

/// Bytes of a program's words that a list shows.
const WORDS_BYTES: usize = 256;
/// Jobs on one page, at most.
const PAGE: usize = 1_000;

fn summary(job: JobId, row: &JobRow) -> JobSummary {
    let errors = row.attempts.iter().rev().filter_map(|note| note.end.as_ref()?.error.as_ref());
    let first_line = |text: &String| text.lines().next().unwrap_or_default().chars().take(1_024).collect();
    JobSummary {
        job,
        kind: row.spec.kind.clone(),
        queue: row.spec.queue.clone(),
        priority: row.spec.priority,
        phase: row.phase(),
        token: row.token(),
        max_attempts: row.max_attempts(),
        created_at: row.created_at,
        due_at: row.due_at,
        finished_at: row.finished_at,
        progress: row.user.clone(),
        error: errors.map(first_line).next(),
        command: row.spec.command.as_ref().map(|command| words(&command.argv)),
        set_aside: row.offer.set_aside.clone().filter(|_| row.variables().dispatch_needed),
    }
}

/// The first words, cut to what a list shows.
fn words(argv: &[String]) -> Vec<String> {
    let mut left = WORDS_BYTES;
    let mut shown = Vec::new();
    for word in argv {
        let cut = &word[..word.floor_char_boundary(left)];
        shown.push(cut.to_owned());
        left = left.saturating_sub(cut.len() + 1);
        if left == 0 || cut.len() < word.len() {
            break;
        }
    }
    shown
}

fn view(job: JobId, row: &JobRow) -> JobView {
    let summary = summary(job, row);
    // A row that cannot be decoded is shown all the same.
    let unreadable = JobSpec {
        kind: summary.kind.clone(),
        queue: summary.queue.clone(),
        priority: summary.priority,
        max_attempts: summary.max_attempts,
        ..JobSpec::default()
    };
    let tokens = 1..=u16::try_from(row.attempts.len()).unwrap_or(u16::MAX);
    JobView {
        summary,
        spec: if row.unreadable { unreadable } else { row.spec.clone() },
        retry_of: row.retry_of,
        revision: row.revision,
        attempts: tokens.map(|token| attempt(row, Attempt { job: JOB, token })).collect(),
        result: row.result.clone(),
        checkpoint_revision: row.valid_checkpoint().map_or(0, |checkpoint| checkpoint.revision),
    }
}

fn attempt(row: &JobRow, of: Attempt) -> AttemptView {
    let note = row.note(of);
    let end = note.end.as_ref();
    AttemptView {
        attempt: note.attempt,
        token: Token(u32::from(of.token)),
        worker: note.worker,
        started_at: note.started_at,
        ended_at: end.map(|end| end.at),
        verdict: end.map(|end| end.verdict),
        error: end.and_then(|end| end.error.clone()),
        exit: end.and_then(|end| end.exit),
        resumed_from: row.resumed_from(of),
    }
}

fn asked_for(filter: &JobFilter, job: JobId, row: &JobRow) -> bool {
    filter.before.is_none_or(|before| job < before)
        && (filter.phases.is_empty() || filter.phases.contains(&row.phase()))
        && filter.kind.as_ref().is_none_or(|kind| *kind == row.spec.kind)
        && filter.queue.as_ref().is_none_or(|queue| *queue == row.spec.queue)
}

#[async_trait]
impl Listing for OracleRoom {
    async fn list(&self, filter: &JobFilter) -> Result<JobPage, Fault> {
        let shelf = self.lock();
        let limit = filter.limit.min(PAGE);
        let found = shelf.jobs.iter().rev().filter(|(job, row)| asked_for(filter, **job, row));
        let mut jobs: Vec<_> = found.take(limit + 1).map(|(job, row)| summary(*job, row)).collect();
        let more = jobs.len() > limit;
        jobs.truncate(limit);
        Ok(JobPage { jobs, more })
    }

    async fn job(&self, job: JobId) -> Result<Option<JobView>, Fault> {
        Ok(self.lock().jobs.get(&job).map(|row| view(job, row)))
    }

    async fn counts(&self) -> Result<Vec<PhaseCount>, Fault> {
        let mut counts = BTreeMap::new();
        for row in self.lock().jobs.values() {
            *counts.entry((row.spec.queue.clone(), row.phase().name(), row.phase())).or_insert(0) += 1;
        }
        Ok(counts.into_iter().map(|((queue, _, phase), jobs)| PhaseCount { queue, phase, jobs }).collect())
    }

    async fn result(&self, job: JobId) -> Result<Option<PublishedResult>, Fault> {
        Ok(self.lock().jobs.get(&job).and_then(|row| row.result.clone()))
    }
}
