//! Submissions: accepted once, whatever is sent again.

use protocol::{Guard, JobId, JobSpec, Phase, Stamped, Timestamp};

use super::job::{JobRow, Offer};
use super::{Shelf, aside, mark};
use crate::{Submit, Submitted};

/// Why the submission cannot be taken at all.
fn refusal(spec: &JobSpec) -> Option<String> {
    if let Err(violation) = spec.validate() {
        return Some(violation.to_string());
    }
    match serde_json::from_str::<serde::de::IgnoredAny>(&spec.args) {
        Ok(_) => None,
        Err(error) => Some(format!("args is no JSON: {error}; allowed is one JSON value")),
    }
}

impl Shelf {
    pub(super) fn submit(&mut self, request: &Submit) -> Stamped<Submitted> {
        if let Some(reason) = refusal(&request.spec) {
            return aside(reason);
        }
        let by_key = request.spec.idempotency_key.as_ref().and_then(|key| self.keys.get(key).copied());
        if let Some(known) = by_key {
            return self.answer_known(request, known);
        }
        if self.insert(request) {
            let effect = Submitted { job: request.job, existed: false, phase: Phase::Queued };
            return Stamped::taken(mark(1), effect);
        }
        self.answer_known(request, request.job)
    }

    fn answer_known(&self, request: &Submit, known: JobId) -> Stamped<Submitted> {
        let row = &self.jobs[&known];
        let repeated = known == request.job;
        let same = !row.unreadable && row.spec == request.spec;
        if same && (!repeated || row.retry_of == request.retry_of) {
            let effect = Submitted { job: known, existed: !repeated, phase: row.phase() };
            Stamped::taken(mark(row.revision), effect)
        } else {
            row.refuse(Guard::SameRequest)
        }
    }

    /// Takes a new job in; `false` when the id is known.
    pub(super) fn insert(&mut self, request: &Submit) -> bool {
        if self.jobs.contains_key(&request.job) {
            return false;
        }
        // A time in the past is no way to the front.
        let due = request.spec.scheduled_at.map_or(self.now, |at| at.max(self.now));
        self.outbox += 1;
        self.jobs.insert(request.job, JobRow::new(request, self.now, due, self.outbox));
        if let Some(key) = &request.spec.idempotency_key {
            self.keys.insert(key.clone(), request.job);
        }
        true
    }

    /// A row for the job at the end of the outbox.
    pub(super) fn offer(&mut self, job: JobId, due: Timestamp) {
        self.outbox += 1;
        let offer = Offer { due, sequence: self.outbox, scheduled: due > self.now, set_aside: None };
        if let Some(row) = self.jobs.get_mut(&job) {
            row.due_at = due;
            row.offer = offer;
        }
    }
}
