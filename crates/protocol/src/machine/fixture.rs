//! States to start unit tests from: one job with two attempts, two workers, all faults.

use super::constants::Constants;
use super::instance::{Move, instances, outline};
use super::rows::{
    Attempt, AttemptRow, AttemptState, Job, JobRow, LinkState, Service, Wants, Worker, WorkerRow,
};
use super::rules::{Law, Module, Rules};
use super::state::State;
use crate::guard::Guard;

pub(super) const J: Job = Job(0);
pub(super) const W: Worker = Worker(0);
pub(super) const V: Worker = Worker(1);
pub(super) const A: Attempt = Attempt { job: J, token: 1 };

/// What makes one conjunct false.
pub(super) type Spoil = fn(&mut World);

#[derive(Debug, Clone)]
pub(super) struct World {
    pub(super) law: Law,
    pub(super) state: State,
}

impl World {
    pub(super) fn new() -> Self {
        let constants =
            Constants { workers: 2, initial_workers: 2, max_attempts: 2, max_progress: 2, ..Constants::ONE };
        let law = Law::of(Module::TwoStores, constants.with_faults(Service::ALL));
        Self { law, state: State::initial(&law.constants) }
    }

    /// The world after these steps, each of which must be allowed.
    #[track_caller]
    pub(super) fn played(mut self, steps: &[Move]) -> Self {
        for step in steps {
            assert_eq!(step.spec_guard(&self.law, &self.state), Ok(()), "{step}");
            step.apply(&self.law, &mut self.state);
        }
        self
    }

    pub(super) fn with(mut self, change: Spoil) -> Self {
        change(&mut self);
        self
    }

    pub(super) fn dispatch_read() -> Self {
        Self::new().played(&[Move::DispatchRead(J)])
    }

    pub(super) fn queued() -> Self {
        Self::dispatch_read().played(&[Move::Enqueue(J)])
    }

    pub(super) fn reserved() -> Self {
        Self::queued().played(&[Move::Reserve(J, W)])
    }

    pub(super) fn authorized() -> Self {
        Self::reserved().played(&[Move::AuthorizeAttempt(J, W)])
    }

    /// Claimed, and the permit is gone.
    pub(super) fn lost() -> Self {
        Self::authorized().played(&[Move::FalseSuspicion(J)])
    }

    pub(super) fn executing() -> Self {
        Self::authorized().played(&[Move::ActivateAttempt(A)])
    }

    pub(super) fn complete() -> Self {
        Self::executing().played(&[Move::AdvanceAttempt(A, 2)])
    }

    pub(super) fn wants(wants: Wants) -> Self {
        Self::complete().played(&[Move::SendOutcome(A, wants)])
    }

    pub(super) fn committed() -> Self {
        Self::wants(Wants::Success).played(&[Move::AcceptSuccess(A)])
    }

    /// Failed with a complete stage left behind.
    pub(super) fn stopped() -> Self {
        Self::wants(Wants::Failure).played(&[Move::AcceptFailure(A)])
    }

    pub(super) fn job(&mut self) -> &mut JobRow {
        &mut self.state[J]
    }

    pub(super) fn attempt(&mut self) -> &mut AttemptRow {
        &mut self.state[A]
    }

    pub(super) fn second(&mut self) -> &mut AttemptRow {
        &mut self.state[Attempt { job: J, token: 2 }]
    }

    pub(super) fn second_executes_on(&mut self, worker: Worker) {
        self.second().attempt_state = AttemptState::Executing;
        self.second().attempt_worker = Some(worker);
    }

    pub(super) fn worker(&mut self) -> &mut WorkerRow {
        &mut self.state[W]
    }

    pub(super) fn cut(&mut self, service: Service) {
        self.worker().links[service.index()] = LinkState::Down;
    }

    /// The step is allowed here by both guards of each module that has it, each conjunct made false in turn
    /// is named, and a law without that conjunct does not ask for it.
    #[track_caller]
    pub(super) fn needs(self, step: Move, spoils: &[(Guard, Spoil)]) {
        let lines = outline(step.action());
        let named: Vec<_> = spoils.iter().map(|(guard, _)| *guard).collect();
        assert_eq!(lines.iter().map(|line| line.guard).collect::<Vec<_>>(), named);
        for module in Module::ALL {
            let law = Law { rules: Rules::of(module), ..self.law };
            if !law.rules.allows(step.action()) {
                continue;
            }
            assert!(instances(&law).contains(&step));
            assert_eq!(step.spec_guard(&law, &self.state), Ok(()), "{module:?}");
            assert_eq!(step.room_guard(&law, &self.state), Ok(()), "{module:?}");
            for (line, (guard, spoil)) in lines.iter().zip(spoils) {
                let spoilt = Self { law, state: self.state.clone() }.with(*spoil);
                let asked = line.module.is_none_or(|only| only == module);
                let spec = step.spec_guard(&spoilt.law, &spoilt.state);
                assert_eq!(spec == Err(*guard), asked, "{module:?}: {guard} and {spec:?}");
                let in_room = matches!(line.seen, super::Seen::Here | super::Seen::Carried);
                let room = step.room_guard(&spoilt.law, &spoilt.state);
                assert_eq!(room == Err(*guard), in_room, "room: {guard} and {room:?}");
                let rules = law.rules.without(step.action(), *guard);
                let without = step.spec_guard(&Law { rules, ..spoilt.law }, &spoilt.state);
                assert_ne!(without, Err(*guard), "{module:?}: {guard} was taken out");
            }
        }
    }
}
