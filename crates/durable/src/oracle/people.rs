//! Reads for people.

use std::collections::BTreeMap;

use async_trait::async_trait;
use protocol::machine::Attempt;
use protocol::{Fault, Incarnation, JobId, JobSpec, Phase, Timestamp, Token};

use super::OracleRoom;
use super::job::{JOB, JobRow};
use crate::form;
use crate::{
    AttemptView, EndCount, JobFilter, JobPage, JobSummary, JobView, Listing, PhaseCount, PublishedResult,
};

/// Bytes of a program's words that a list shows.
const WORDS_BYTES: usize = 256;

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

/// Whether the job is one of those that are walked over.
fn walked(filter: &JobFilter, phase: Option<Phase>, job: JobId, row: &JobRow) -> bool {
    filter.before.is_none_or(|before| job < before) && phase.is_none_or(|phase| phase == row.phase())
}

fn asked_for(filter: &JobFilter, job: JobId, row: &JobRow) -> bool {
    let under = |worker: Incarnation| filter.workers.contains(&worker);
    filter.kind.as_ref().is_none_or(|kind| *kind == row.spec.kind)
        && filter.queue.as_ref().is_none_or(|queue| *queue == row.spec.queue)
        && filter.created_from.is_none_or(|from| row.created_at >= from)
        && filter.created_until.is_none_or(|until| row.created_at < until)
        && (filter.workers.is_empty() || row.authority().is_some_and(|(_, note)| under(note.worker)))
        && filter.text.as_ref().is_none_or(|text| has_text(&summary(job, row), text))
}

fn has_text(summary: &JobSummary, text: &str) -> bool {
    let words = summary.command.as_ref().map(|words| format!("[\"{}\"]", words.join(" ")));
    let hay =
        format!("{} {} {}", summary.kind, words.unwrap_or_default(), summary.error.as_deref().unwrap_or(""));
    hay.to_ascii_lowercase().contains(&text.to_ascii_lowercase())
}

#[async_trait]
impl Listing for OracleRoom {
    async fn list(&self, filter: &JobFilter) -> Result<JobPage, Fault> {
        let shelf = self.lock();
        let walk = |phase| {
            let over: Vec<_> =
                shelf.jobs.iter().rev().filter(|(job, row)| walked(filter, phase, **job, row)).collect();
            let last = over.get(filter.scan.saturating_sub(1)).map(|(job, _)| **job);
            let reach = last.filter(|_| !filter.takes_all());
            let found = over
                .into_iter()
                .filter(|(job, row)| {
                    reach.is_none_or(|reach| **job >= reach) && asked_for(filter, **job, row)
                })
                .take(form::page_limit(filter) + 1)
                .map(|(job, row)| summary(*job, row));
            (found.collect(), reach)
        };
        Ok(form::page(filter, form::walks(filter).into_iter().map(walk).collect()))
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

    async fn oldest_waiting(&self) -> Result<Option<JobSummary>, Fault> {
        let shelf = self.lock();
        let waits = |row: &JobRow| {
            row.phase() == Phase::Queued && row.offer.set_aside.is_none() && row.offer.due <= shelf.now
        };
        let waiting = shelf.jobs.iter().filter(|(_, row)| waits(row));
        let oldest = waiting.min_by_key(|(_, row)| (row.offer.due, row.offer.sequence));
        Ok(oldest.map(|(job, row)| summary(*job, row)))
    }

    async fn ends(&self, since: Timestamp) -> Result<Vec<EndCount>, Fault> {
        let mut counts = BTreeMap::new();
        for row in self.lock().jobs.values() {
            if let Some(at) = row.finished_at.filter(|at| *at >= since) {
                let minute = at.0.div_euclid(60_000);
                *counts.entry((minute, row.phase().name(), row.phase())).or_insert(0) += 1;
            }
        }
        let count = |((number, _, phase), jobs)| EndCount { minute: form::minute(number), phase, jobs };
        Ok(form::whole_minutes(since, counts.into_iter().map(count).collect()))
    }

    async fn result(&self, job: JobId) -> Result<Option<PublishedResult>, Fault> {
        Ok(self.lock().jobs.get(&job).and_then(|row| row.result.clone()))
    }
}
