//! `Fairness` of both modules: which steps somebody is bound to take in the end.
//!
//! Promises: one conjunct here for each of the spec's, under the name of the action or of the operator that
//! groups several. Steps that are in none (faults, cancels, progress reports) may never happen.

use std::fmt;

use protocol::machine::{Attempt, Job, Law, Module, Move, Service, Worker};

/// How a conjunct binds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strength {
    /// `WF`: taken in the end if it stays possible.
    Weak,
    /// `SF`: taken in the end if it becomes possible again and again.
    Strong,
}

/// What a conjunct is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Subject {
    Job(Job),
    Attempt(Attempt),
    Pair(Job, Worker),
    Link(Worker, Service),
    Worker(Worker),
    Time,
}

/// A conjunct of `Fairness`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fair {
    /// The operator it names.
    pub name: &'static str,
    /// How it binds.
    pub strength: Strength,
    subject: Subject,
}

impl fmt::Display for Fair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.strength == Strength::Weak { "WF" } else { "SF" };
        write!(f, "{kind} {}", self.name)?;
        match self.subject {
            Subject::Job(job) => write!(f, "({job})"),
            Subject::Attempt(of) => write!(f, "({of})"),
            Subject::Pair(job, worker) => write!(f, "({job}, {worker})"),
            Subject::Link(worker, service) => write!(f, "({worker}, {service})"),
            Subject::Worker(worker) => write!(f, "({worker})"),
            Subject::Time => Ok(()),
        }
    }
}

/// The conjunct that an instance belongs to, if any. No instance belongs to two.
#[must_use]
pub fn fairness_of(law: &Law, step: Move) -> Option<Fair> {
    let weak = |name, subject| Some(Fair { name, strength: Strength::Weak, subject });
    let strong = |name, subject| Some(Fair { name, strength: Strength::Strong, subject });
    match step {
        Move::DispatchRead(job) => strong("DispatchRead", Subject::Job(job)),
        Move::Enqueue(job) => weak("Enqueue", Subject::Job(job)),
        Move::ClaimRefused(job, worker) => strong("ClaimRefused", Subject::Pair(job, worker)),
        Move::ActivateRefused(of) => strong("ActivateRefused", Subject::Attempt(of)),
        Move::Reserve(job, _) => strong("ReserveJob", Subject::Job(job)),
        Move::AuthorizeAttempt(job, _) => strong("AuthorizeJob", Subject::Job(job)),
        Move::ActivateAttempt(of) => strong("ActivateJob", Subject::Job(of.job)),
        Move::SendOutcome(of, _) | Move::AdvanceAttempt(of, _) => strong("ExecuteJob", Subject::Job(of.job)),
        Move::AcceptSuccess(of) | Move::AcceptFailure(of) | Move::RejectOutcome(of) => {
            weak("ProcessOutcome", Subject::Attempt(of))
        }
        Move::ExpireLease(of) => weak("ExpireLease", Subject::Attempt(of)),
        Move::CooperativeStop(of) => weak("CooperativeStop", Subject::Attempt(of)),
        Move::ReleaseLease(of) => weak("ReleaseLease", Subject::Attempt(of)),
        Move::CleanupStage(of) => weak("CleanupStage", Subject::Attempt(of)),
        Move::ReleaseReservation(job) => weak("ReleaseReservation", Subject::Job(job)),
        Move::ReapObserve(of) if law.rules.module == Module::TwoStores => {
            weak("ReapJob", Subject::Job(of.job))
        }
        Move::ReapLostAttempt(of) => weak("ReapJob", Subject::Job(of.job)),
        Move::ScheduleRetry(job) => weak("ScheduleRetry", Subject::Job(job)),
        Move::FinalizeCancel(job) => weak("FinalizeCancel", Subject::Job(job)),
        Move::PublishCancelNotice(job) => weak("PublishCancelNotice", Subject::Job(job)),
        Move::CleanTerminalCoordination(job) => weak("CleanTerminalCoordination", Subject::Job(job)),
        Move::RestoreLink(worker, service) => weak("RestoreLink", Subject::Link(worker, service)),
        Move::StartIncarnation(worker) => weak("StartIncarnation", Subject::Worker(worker)),
        Move::Tick => weak("Tick", Subject::Time),
        _ => None,
    }
}

/// All conjuncts that some instance belongs to.
#[must_use]
pub fn fairness(law: &Law, all: &[Move]) -> Vec<Fair> {
    let mut conjuncts = Vec::new();
    for fair in all.iter().filter_map(|step| fairness_of(law, *step)) {
        if !conjuncts.contains(&fair) {
            conjuncts.push(fair);
        }
    }
    conjuncts
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::machine::{Constants, instances};

    #[test]
    fn each_module_has_the_conjuncts_that_its_spec_writes() {
        for (module, count) in [(Module::Remora, 19), (Module::TwoStores, 22)] {
            let law = Law::of(module, Constants::ONE);
            let names: Vec<_> = fairness(&law, &instances(&law)).iter().map(ToString::to_string).collect();
            // One line of the spec is about three links, the others about one thing each.
            assert_eq!(names.len(), count + 2, "{names:?}");
            assert!(names.contains(&"SF AuthorizeJob(j1)".to_owned()));
            assert!(names.contains(&"WF Tick".to_owned()));
        }
    }

    #[test]
    fn nobody_is_bound_to_cancel_or_to_break_anything() {
        let law = Law::of(Module::TwoStores, Constants::ONE);
        let free = [Move::RequestCancel(Job(0)), Move::CrashWorker(Worker(0)), Move::FalseSuspicion(Job(0))];
        assert!(free.iter().all(|step| fairness_of(&law, *step).is_none()));
    }
}
