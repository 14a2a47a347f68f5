//! Instances of actions: an action with its arguments.

use std::fmt;

use super::actions;
use super::conjunct::{self, Outline};
use super::rows::{Attempt, Job, Service, Wants, Worker};
use super::rules::{Law, Module};
use super::state::State;
use crate::action::Action;
use crate::guard::Guard;

macro_rules! moves {
    ($($name:ident $(($($arg:ident: $ty:ty),+))? = $file:ident;)*) => {
        /// An instance of an action, under the spec's name and with its arguments.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Move { $(
            #[doc = concat!("See [`actions::", stringify!($file), "`].")]
            $name $(($($ty),+))?,
        )* }

        impl Move {
            /// Which action it is of.
            #[must_use]
            pub fn action(self) -> Action {
                match self { $(Self::$name { .. } => Action::$name,)* }
            }

            /// Whether the spec allows it in this state.
            ///
            /// # Errors
            /// The first conjunct that is false.
            pub fn spec_guard(self, law: &Law, state: &State) -> Result<(), Guard> {
                match self { $(
                    Self::$name $(($($arg),+))? => conjunct::spec_guard(
                        Action::$name, actions::$file::GUARDS, law, state, ($($($arg),+)?)
                    ),
                )* }
            }

            /// Whether the action's own room, which sees only its own rows and the request, allows it.
            ///
            /// # Errors
            /// The first conjunct, of those it can decide, that is false.
            pub fn room_guard(self, law: &Law, state: &State) -> Result<(), Guard> {
                match self { $(
                    Self::$name $(($($arg),+))? => conjunct::room_guard(
                        actions::$file::GUARDS, law, state, ($($($arg),+)?)
                    ),
                )* }
            }

            /// Does it, whether or not a guard allows it.
            pub fn apply(self, law: &Law, state: &mut State) {
                match self { $(
                    Self::$name $(($($arg),+))? => actions::$file::$file(law, state, ($($($arg),+)?)),
                )* }
            }
        }

        impl fmt::Display for Move {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self { $(
                    Self::$name $(($($arg),+))? => {
                        let arguments: &[&dyn fmt::Display] = &[$($($arg),+)?];
                        write_call(f, stringify!($name), arguments)
                    }
                )* }
            }
        }

        /// The lines of an action's guard, in the spec's order.
        #[must_use]
        pub fn outline(action: Action) -> Vec<Outline> {
            match action { $(Action::$name => conjunct::outline(actions::$file::GUARDS),)* }
        }
    };
}

moves! {
    Enqueue(job: Job) = enqueue;
    Reserve(job: Job, worker: Worker) = reserve;
    AuthorizeAttempt(job: Job, worker: Worker) = authorize_attempt;
    ActivateAttempt(attempt: Attempt) = activate_attempt;
    RenewLease(attempt: Attempt) = renew_lease;
    Tick = tick;
    ExpireLease(attempt: Attempt) = expire_lease;
    LoseCoordinationState = lose_coordination_state;
    DropLink(worker: Worker, service: Service) = drop_link;
    RestoreLink(worker: Worker, service: Service) = restore_link;
    CrashWorker(worker: Worker) = crash_worker;
    StartIncarnation(worker: Worker) = start_incarnation;
    ReleaseReservation(job: Job) = release_reservation;
    ReapLostAttempt(attempt: Attempt) = reap_lost_attempt;
    ScheduleRetry(job: Job) = schedule_retry;
    RequestCancel(job: Job) = request_cancel;
    FinalizeCancel(job: Job) = finalize_cancel;
    PublishCancelNotice(job: Job) = publish_cancel_notice;
    CooperativeStop(attempt: Attempt) = cooperative_stop;
    ReleaseLease(attempt: Attempt) = release_lease;
    CleanTerminalCoordination(job: Job) = clean_terminal_coordination;
    AdvanceAttempt(attempt: Attempt, amount: u16) = advance_attempt;
    PersistCheckpoint(attempt: Attempt) = persist_checkpoint;
    InvalidateCheckpoint(job: Job) = invalidate_checkpoint;
    ReportProgress(attempt: Attempt) = report_progress;
    SendOutcome(attempt: Attempt, wants: Wants) = send_outcome;
    AcceptSuccess(attempt: Attempt) = accept_success;
    AcceptFailure(attempt: Attempt) = accept_failure;
    RejectOutcome(attempt: Attempt) = reject_outcome;
    CleanupStage(attempt: Attempt) = cleanup_stage;
    DispatchRead(job: Job) = dispatch_read;
    ClaimRefused(job: Job, worker: Worker) = claim_refused;
    ActivateRefused(attempt: Attempt) = activate_refused;
    ReapObserve(attempt: Attempt) = reap_observe;
    RestoreLease(attempt: Attempt) = restore_lease;
    FalseSuspicion(job: Job) = false_suspicion;
}

/// As the spec writes it: `Reserve(j1, w1)`.
fn write_call(f: &mut fmt::Formatter<'_>, name: &str, arguments: &[&dyn fmt::Display]) -> fmt::Result {
    f.write_str(name)?;
    for (place, argument) in arguments.iter().enumerate() {
        write!(f, "{}{argument}", if place == 0 { "(" } else { ", " })?;
    }
    if arguments.is_empty() { Ok(()) } else { f.write_str(")") }
}

/// All instances that the bounds admit, in the order of the module's `Next`.
#[must_use]
pub fn instances(law: &Law) -> Vec<Move> {
    let state = State::initial(&law.constants);
    let jobs: Vec<_> = state.job_ids().collect();
    let attempts: Vec<_> = state.attempt_ids().collect();
    let pairs: Vec<_> =
        jobs.iter().flat_map(|job| state.worker_ids().map(move |worker| (*job, worker))).collect();
    let links: Vec<_> = state
        .worker_ids()
        .flat_map(|worker| Service::ALL.iter().map(move |service| (worker, *service)))
        .collect();

    let mut all = Vec::new();
    if law.rules.module == Module::TwoStores {
        let memory = |job: &Job| [Move::DispatchRead(*job), Move::Enqueue(*job), Move::FalseSuspicion(*job)];
        all.extend(jobs.iter().flat_map(memory));
        all.extend(pairs.iter().map(|(job, worker)| Move::ClaimRefused(*job, *worker)));
        let corridor =
            |of: &Attempt| [Move::ActivateRefused(*of), Move::ReapObserve(*of), Move::RestoreLease(*of)];
        all.extend(attempts.iter().flat_map(corridor));
    } else {
        all.extend(jobs.iter().map(|job| Move::Enqueue(*job)));
    }
    let each_job = |all: &mut Vec<Move>, make: fn(Job) -> Move| all.extend(jobs.iter().map(|job| make(*job)));
    let each_attempt =
        |all: &mut Vec<Move>, make: fn(Attempt) -> Move| all.extend(attempts.iter().map(|of| make(*of)));

    all.extend(pairs.iter().map(|(job, worker)| Move::Reserve(*job, *worker)));
    all.extend(pairs.iter().map(|(job, worker)| Move::AuthorizeAttempt(*job, *worker)));
    each_attempt(&mut all, Move::ActivateAttempt);
    each_attempt(&mut all, Move::RenewLease);
    all.push(Move::Tick);
    each_attempt(&mut all, Move::ExpireLease);
    all.push(Move::LoseCoordinationState);
    all.extend(links.iter().map(|(worker, service)| Move::DropLink(*worker, *service)));
    all.extend(links.iter().map(|(worker, service)| Move::RestoreLink(*worker, *service)));
    all.extend(state.worker_ids().map(Move::CrashWorker));
    all.extend(state.worker_ids().map(Move::StartIncarnation));
    each_job(&mut all, Move::ReleaseReservation);
    each_attempt(&mut all, Move::ReapLostAttempt);
    each_job(&mut all, Move::ScheduleRetry);
    each_job(&mut all, Move::RequestCancel);
    each_job(&mut all, Move::FinalizeCancel);
    each_job(&mut all, Move::PublishCancelNotice);
    each_attempt(&mut all, Move::CooperativeStop);
    each_attempt(&mut all, Move::ReleaseLease);
    each_job(&mut all, Move::CleanTerminalCoordination);
    let amounts = |of: &Attempt| {
        let of = *of;
        (1..=law.constants.max_progress).map(move |amount| Move::AdvanceAttempt(of, amount))
    };
    all.extend(attempts.iter().flat_map(amounts));
    each_attempt(&mut all, Move::PersistCheckpoint);
    each_job(&mut all, Move::InvalidateCheckpoint);
    each_attempt(&mut all, Move::ReportProgress);
    let outcomes = |of: &Attempt| {
        Wants::ALL.iter().map({
            let of = *of;
            move |wants| Move::SendOutcome(of, *wants)
        })
    };
    all.extend(attempts.iter().flat_map(outcomes));
    each_attempt(&mut all, Move::AcceptSuccess);
    each_attempt(&mut all, Move::AcceptFailure);
    each_attempt(&mut all, Move::RejectOutcome);
    each_attempt(&mut all, Move::CleanupStage);
    all.retain(|step| law.rules.allows(step.action()));
    all
}

/// The instances that the spec allows in this state, in the order of the module's `Next`.
#[must_use]
pub fn moves(law: &Law, state: &State) -> Vec<Move> {
    let mut all = instances(law);
    all.retain(|step| step.spec_guard(law, state).is_ok());
    all
}
