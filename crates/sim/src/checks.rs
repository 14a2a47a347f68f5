//! Whether a run was right: nothing left, every result what it must be and published once, every step one of the spec's.

use std::collections::BTreeMap;
use std::sync::PoisonError;

use coordination::CoordinationReads as _;
use durable::{Document, DurableReads as _, JobView, PublishedResult};
use model::audit::{Audit, Census, Head, Report, Source};
use protocol::{Action, Event, JobId, Outcome, Phase};
use target::{Manifest, StageId};

use crate::jobs::JobPlan;
use crate::now::now;
use crate::record::{Dated, Happened};
use crate::target_room::Thing;
use crate::world::World;

fn stage_of(result: &PublishedResult) -> StageId {
    StageId { job: result.job, token: result.token, attempt: result.attempt }
}

impl World {
    fn jobs_submitted(&self) -> BTreeMap<usize, JobId> {
        self.submitted.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What is not over yet, or is still there.
    pub(crate) fn left(&self) -> Vec<String> {
        let mut left = Vec::new();
        let submitted = self.jobs_submitted();
        if submitted.len() < self.jobs.len() {
            left.push(format!("{} of {} jobs accepted", submitted.len(), self.jobs.len()));
        }
        for (number, id) in &submitted {
            if let Some(view) = self.durable.view(*id).filter(|view| !view.summary.phase.is_terminal()) {
                left.push(format!("job {number} is {}", view.summary.phase.name()));
            }
        }
        if left.is_empty() {
            self.left_in_stores(&mut left);
        }
        left
    }

    fn left_in_stores(&self, left: &mut Vec<String>) {
        let some = |what: &str, count: usize| (count > 0).then(|| format!("{count} {what}"));
        let stages = now(self.durable.room.stages_to_sweep(usize::MAX)).map_or(0, |stages| stages.len());
        left.extend(some("stages to sweep", stages));
        if let Ok(pool) = now(self.coordination.pool()) {
            left.extend(some("leases", pool.leases));
            left.extend(some("reservations", pool.reservations));
            left.extend(some("attempts unaccounted for", pool.unaccounted));
            left.extend(some("queue entries", pool.queued));
            if !pool.open {
                left.push("coordination is not open".to_owned());
            }
        }
        let holdings = now(self.coordination.holdings(None, usize::MAX)).map_or(0, |page| page.jobs.len());
        left.extend(some("jobs with holdings", holdings));
        let results: Vec<_> = self
            .jobs_submitted()
            .values()
            .filter_map(|id| self.durable.view(*id)?.result)
            .map(|result| format!("{}/out/", stage_of(&result).prefix()))
            .collect();
        let stray = |key: &String| !results.iter().any(|result| key.starts_with(result));
        let stray: Vec<_> = self.target.keys().into_iter().filter(stray).collect();
        left.extend(some("things on the target that nothing refers to", stray.len()));
    }

    /// Whether each job came to an end that it may come to.
    pub(crate) fn check_jobs(&self) {
        let cancelled = self.cancelled.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for (number, id) in self.jobs_submitted() {
            let plan = &self.jobs[number];
            let Some(view) = self.durable.view(id) else {
                self.record.wrong(format!("job {number} is gone"));
                continue;
            };
            let phase = view.summary.phase;
            let may = match phase {
                Phase::Succeeded => plan.may_succeed() && !cancelled.contains(&id),
                Phase::Failed => plan.may_fail() && !cancelled.contains(&id),
                Phase::Cancelled => plan.cancel_after.is_some(),
                _ => false,
            };
            if !may {
                let asked = if cancelled.contains(&id) { ", and its cancel was acknowledged" } else { "" };
                self.record.wrong(format!("job {number} ({:?}) is {}{asked}", plan.flavour, phase.name()));
            }
            self.check_result(plan, &view);
        }
    }

    fn check_result(&self, plan: &JobPlan, view: &JobView) {
        let succeeded = view.summary.phase == Phase::Succeeded;
        let Some(result) = view.result.as_ref().filter(|_| succeeded) else {
            if succeeded || view.result.is_some() {
                self.record.wrong(format!("job {} has a result exactly when it must not", plan.number));
            }
            return;
        };
        let files = self.files(result);
        let wanted = plan.result();
        if files.as_ref() != Some(&wanted) {
            let names = |files: &BTreeMap<String, Vec<u8>>| files.keys().cloned().collect::<Vec<_>>();
            let found = files.as_ref().map(names);
            self.record.wrong(format!("the result of job {} is not what it must be: {found:?}", plan.number));
        }
    }

    /// The files of a result, if all are there.
    fn files(&self, result: &PublishedResult) -> Option<BTreeMap<String, Vec<u8>>> {
        let Document::Inline(bytes) = &result.record.manifest else { return None };
        let manifest = Manifest::decode(bytes).ok()?;
        let mut files = BTreeMap::new();
        for entry in &manifest.entries {
            let key = format!("{}/out/{}", stage_of(result).prefix(), entry.path);
            match self.target.peek(&key)? {
                Thing::Bytes(bytes, _) => {
                    files.insert(entry.path.clone(), bytes);
                }
                Thing::Folder | Thing::Link(_) => {}
            }
        }
        Some(files)
    }

    /// What no single event may say, and what their number must not be.
    pub(crate) fn check_events(&self, story: &[Dated]) {
        let mut published: BTreeMap<JobId, u32> = BTreeMap::new();
        for (_, happened) in story {
            let Happened::Event(event) = happened else { continue };
            if event.outcome != Outcome::Taken {
                continue;
            }
            match (event.action, event.job) {
                (Action::AcceptSuccess, Some(job)) => *published.entry(job).or_default() += 1,
                (Action::InvalidateCheckpoint, _) => {
                    self.record.wrong("a checkpoint was found to be bad, and nothing had damaged one");
                }
                (Action::Reserve, _) if event.detail.in_use > Some(self.plan.global_limit) => {
                    self.record.wrong(format!("more than {} places are in use", self.plan.global_limit));
                }
                _ => {}
            }
        }
        if published.values().any(|times| *times > 1) {
            self.record.wrong("a job was published more than once");
        }
    }
}

/// Replays a story on the spec.
pub(crate) fn audit(story: &[Dated]) -> Report {
    let source = Source { owner: true, ..Source::default() };
    let events = || {
        story.iter().filter_map(|(_, happened)| match happened {
            Happened::Event(event) => Some(event.as_ref()),
            Happened::Fate(_) => None,
        })
    };
    let mut census = Census::default();
    for event in events() {
        let Event { room, epoch, action, job, actor, sequence, .. } = *event;
        census.count(&Head { room, epoch, action, job, actor, sequence }, source);
    }
    let mut audit = Audit::new(census);
    events().for_each(|event| audit.take(event.clone(), source));
    audit.finish()
}
