//! What becomes of answers and events: the spans.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use durable::{AuthorizeAttempt, Authorized, Submit};
use opentelemetry::KeyValue;
use opentelemetry::trace::{Link, SpanKind};
use opentelemetry_sdk::trace::{SpanData, SpanEvents};
use protocol::{Action, AttemptId, Event, FailureCause, Guard, JobId, Outcome, Phase, Token};

use crate::attempts::{Attempts, Open};
use crate::export::Exporter;
use crate::ids;
use crate::names::{CLIENT, ERROR, OUTCOME, PROGRESS, Telling, context};
use crate::sampler::Sampler;

/// The actions that are verdicts; docs/reference/traces.md lists them.
pub const SETTLE: [Action; 4] =
    [Action::AcceptSuccess, Action::AcceptFailure, Action::ReapLostAttempt, Action::FinalizeCancel];

/// How an attempt ended.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Verdict {
    /// The phase of its job then, where it is known.
    pub(crate) phase: Phase,
    pub(crate) error: Option<&'static str>,
}

/// Makes spans and hands them out.
#[derive(Debug)]
pub(crate) struct Tracer {
    pub(crate) exporter: Exporter,
    pub(crate) sampler: Sampler,
    pub(crate) attempts: Attempts,
}

impl Tracer {
    /// A job was accepted; `request` where it is known what it asks for.
    pub(crate) fn sent(&self, job: JobId, request: Option<&Submit>, old: Option<JobId>, since: SystemTime) {
        if !self.sampler.takes(job) {
            return;
        }
        let told = Telling::new(job, ids::send(job), "submit", "send");
        let told = match request {
            Some(request) => told.placed(&request.spec.queue, &request.spec.kind),
            None => told,
        };
        let mut span = Telling { kind: SpanKind::Producer, since, ..told }.end(None);
        let link = old.map(|old| Link::with_context(context(old, ids::send(old))));
        span.links.links.extend(link);
        self.exporter.send(span);
    }

    pub(crate) fn claimed(&self, request: &AuthorizeAttempt, answer: &Authorized, since: SystemTime) {
        if !self.sampler.takes(request.job) {
            return;
        }
        self.attempts.begin(Open {
            job: request.job,
            attempt: request.attempt,
            token: answer.token,
            worker: request.worker,
            queue: Arc::from(answer.spec.queue.as_str()),
            kind: Arc::from(answer.spec.kind.as_str()),
            since,
            events: SpanEvents::default(),
            lost: false,
        });
    }

    pub(crate) fn checkpointed(&self, attempt: AttemptId, progress: u64, refused: Option<Guard>) {
        let progress = KeyValue::new(PROGRESS, i64::try_from(progress).unwrap_or(i64::MAX));
        match refused {
            None => self.attempts.note(attempt, "checkpoint", vec![progress]),
            Some(guard) => {
                let guard = KeyValue::new(ERROR, guard.name());
                self.attempts.note(attempt, "checkpoint_refused", vec![progress, guard]);
            }
        }
    }

    /// An attempt ended by a verdict of whoever held it.
    pub(crate) fn ended(&self, attempt: AttemptId, verdict: Verdict) {
        if let Some(open) = self.attempts.end(attempt) {
            self.exporter.send(process(open, verdict));
        }
    }

    /// An attempt was ended by somebody else than its worker, of which nobody else may tell any more.
    pub(crate) fn ended_for(&self, job: JobId, attempt: AttemptId, verdict: Verdict, token: Option<Token>) {
        if !self.sampler.takes(job) {
            return;
        }
        let span = match self.attempts.end(attempt) {
            Some(open) => process(open, verdict),
            None => {
                let told = Telling::new(job, ids::process(attempt), "process", "process");
                let told = told.attempt(attempt, token).with(OUTCOME, verdict.phase.name());
                let parent = ids::send(job);
                Telling { kind: SpanKind::Consumer, parent, since: made_at(attempt), ..told }
                    .end(verdict.error)
            }
        };
        self.exporter.send(span);
    }

    /// An attempt went on without authority, as far as this.
    pub(crate) fn fenced(&self, attempt: AttemptId, error: &'static str) {
        let Some(open) = self.attempts.end(attempt) else { return };
        let told = Telling::new(open.job, ids::fenced(attempt), "process", "process");
        let mut told = told.attempt(attempt, Some(open.token)).with(CLIENT, open.worker.to_string());
        told.name = "fenced".into();
        let told = told.placed(&open.queue, &open.kind).with(OUTCOME, "fenced");
        let mut span = Telling { parent: ids::process(attempt), since: open.since, ..told }.end(Some(error));
        span.events = open.events;
        self.exporter.send(span);
    }

    /// An event: a verdict becomes a span.
    pub(crate) fn heard(&self, event: &Event) {
        let Some(job) = event.job.filter(|job| self.sampler.takes(*job)) else { return };
        if SETTLE.contains(&event.action) {
            self.exporter.send(self.settle(job, event));
        }
    }

    fn settle(&self, job: JobId, event: &Event) -> SpanData {
        let told = Telling::new(job, ids::settle(job, event), event.action.name(), "settle");
        let told = match event.attempt {
            Some(attempt) => {
                let told = told.attempt(attempt, event.token);
                match self.attempts.place(attempt) {
                    Some((queue, kind)) => told.placed(&queue, &kind),
                    None => told,
                }
            }
            None => told,
        };
        let (outcome, error) = match event.outcome {
            Outcome::Refused(guard) => ("refused", Some(guard.name())),
            Outcome::Taken => (event.detail.phase_after.map_or("taken", Phase::name), failed(event)),
        };
        let parent = event.attempt.map_or_else(|| ids::send(job), ids::process);
        Telling { kind: SpanKind::Client, parent, ..told.with(OUTCOME, outcome) }.end(error)
    }
}

/// What a verdict that was taken says went wrong.
fn failed(event: &Event) -> Option<&'static str> {
    match event.action {
        Action::ReapLostAttempt => Some(cause_name(FailureCause::Lost)),
        Action::AcceptFailure => Some(event.detail.cause.map_or("failed", cause_name)),
        _ => None,
    }
}

pub(crate) fn cause_name(cause: FailureCause) -> &'static str {
    match cause {
        FailureCause::Failed => "failed",
        FailureCause::TimedOut => "timed_out",
        FailureCause::Drained => "drained",
        FailureCause::BadCheckpoint => "bad_checkpoint",
        FailureCause::Permanent => "permanent",
        FailureCause::Lost => "lost",
    }
}

fn process(open: Open, verdict: Verdict) -> SpanData {
    let told = Telling::new(open.job, ids::process(open.attempt), "process", "process");
    let told = told
        .placed(&open.queue, &open.kind)
        .attempt(open.attempt, Some(open.token))
        .with(CLIENT, open.worker.to_string())
        .with(OUTCOME, verdict.phase.name());
    let (parent, since) = (ids::send(open.job), open.since);
    let mut span = Telling { kind: SpanKind::Consumer, parent, since, ..told }.end(verdict.error);
    span.events = open.events;
    span
}

/// When an attempt's id was made: a moment before its claim, by its worker's clock.
fn made_at(attempt: AttemptId) -> SystemTime {
    let unix_ms = u64::try_from(attempt.0 >> 80).unwrap_or(0);
    (SystemTime::UNIX_EPOCH + Duration::from_millis(unix_ms)).min(SystemTime::now())
}
