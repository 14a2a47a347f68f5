//! The rows of the state, one variable of the spec per field and under its name.

use std::fmt;

use crate::phase::Phase;

/// An element of `Jobs`, counted from 0, printed from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Job(pub u16);

/// An element of `Workers`: one incarnation. Counted from 0, printed from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Worker(pub u16);

/// An element of `AttemptIds`. `NoAttempt` is `None`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Attempt {
    /// `JobOf(a)`.
    pub job: Job,
    /// `TokenOf(a)`, from 1.
    pub token: u16,
}

impl fmt::Display for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "j{}", u32::from(self.0) + 1)
    }
}

impl fmt::Display for Worker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "w{}", u32::from(self.0) + 1)
    }
}

impl fmt::Display for Attempt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}#{}", self.job, self.token)
    }
}

macro_rules! states {
    ($($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident,)* })*) => { $(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $($(#[$vdoc])* $variant,)* }

        impl $name {
            /// All, in the spec's order.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The place in [`Self::ALL`].
            #[must_use]
            pub const fn index(self) -> usize {
                self as usize
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(match self { $(Self::$variant => stringify!($variant),)* })
            }
        }
    )* };
}

states! {
    /// `Services`.
    Service {
        /// `CoordSvc`.
        Coordination,
        /// `DurableSvc`.
        Durable,
        /// `TargetSvc`.
        Target,
    }
    /// `WorkerStates`.
    WorkerState {
        /// Not started yet.
        Unused,
        /// Runs.
        Up,
        /// Died, and never comes back under this incarnation.
        Down,
    }
    /// `LinkStates`.
    LinkState {
        /// Never cut.
        Up,
        /// Cut.
        Down,
        /// Was cut once and works again.
        Recovered,
    }
    /// `AttemptStates`.
    AttemptState {
        /// Not allocated.
        Unused,
        /// Claimed, not executing yet.
        Authorized,
        /// Executing, with authority or without.
        Executing,
        /// Not executing any more.
        Stopped,
        /// Its result is the job's.
        Committed,
    }
    /// `LeaseStates`.
    LeaseState {
        /// Never had one.
        NoLease,
        /// Has one.
        Live,
        /// Had one.
        Expired,
    }
    /// `StageStates`.
    StageState {
        /// Nothing written.
        NoStage,
        /// Something written.
        Partial,
        /// All written.
        Complete,
        /// Deleted.
        Cleaned,
    }
    /// `OutcomeRequests` but for `NoOutcome`, which is `None`.
    Wants {
        /// `WantsSuccess`.
        Success,
        /// `WantsFailure`.
        Failure,
    }
}

/// What is kept per job.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct JobRow {
    /// Durable: where the job stands.
    pub phase: Phase,
    /// Durable: cancel was asked for before the end.
    pub cancel_requested: bool,
    /// Durable: the last token given; 0 before the first.
    pub current_token: u16,
    /// Durable: the attempt that may publish.
    pub authority: Option<Attempt>,
    /// Durable: the job is in the outbox.
    pub dispatch_needed: bool,
    /// Durable: the attempt whose result is the job's.
    pub committed_attempt: Option<Attempt>,
    /// Durable: the progress that the next attempt starts from, if valid.
    pub checkpoint: u16,
    /// Durable: whether the checkpoint may be used.
    pub checkpoint_valid: bool,
    /// Coordination: in a window.
    pub queued: bool,
    /// Coordination: the worker that holds the permit.
    pub reservation: Option<Worker>,
    /// Coordination: the worker is being told of a cancel.
    pub cancel_notice: bool,
    /// Coordination: progress shown to people.
    pub live_progress: u16,
    /// Coordination: whose progress that is.
    pub live_progress_attempt: Option<Attempt>,
    /// `TwoStores`, worker memory: who believes to hold a permit. Sorted.
    pub ticket: Vec<Worker>,
    /// `TwoStores`, dispatcher memory: was read as dispatchable.
    pub dispatch_seen: bool,
}

impl JobRow {
    /// An accepted submission: the outbox precedes queueing.
    pub const NEW: Self = Self {
        phase: Phase::Queued,
        cancel_requested: false,
        current_token: 0,
        authority: None,
        dispatch_needed: true,
        committed_attempt: None,
        checkpoint: 0,
        checkpoint_valid: false,
        queued: false,
        reservation: None,
        cancel_notice: false,
        live_progress: 0,
        live_progress_attempt: None,
        ticket: Vec::new(),
        dispatch_seen: false,
    };

    /// `w ∈ ticket[j]`.
    #[must_use]
    pub fn holds_ticket(&self, worker: Worker) -> bool {
        self.ticket.contains(&worker)
    }

    /// `ticket[j] ∪ {w}`.
    pub fn add_ticket(&mut self, worker: Worker) {
        if let Err(place) = self.ticket.binary_search(&worker) {
            self.ticket.insert(place, worker);
        }
    }

    /// `ticket[j] \ {w}`.
    pub fn drop_ticket(&mut self, worker: Worker) {
        self.ticket.retain(|holder| *holder != worker);
    }

    /// What is shown of the job's progress belongs to this attempt and goes away with its lease.
    pub(super) fn hide_progress_of(&mut self, attempt: Attempt) {
        if self.live_progress_attempt == Some(attempt) {
            self.live_progress = 0;
            self.live_progress_attempt = None;
        }
    }
}

/// What is kept per attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct AttemptRow {
    /// Where the attempt's process stands.
    pub attempt_state: AttemptState,
    /// The incarnation that claimed it.
    pub attempt_worker: Option<Worker>,
    /// What it has written.
    pub attempt_progress: u16,
    /// What it started from.
    pub initial_progress: u16,
    /// Whether that came from a checkpoint.
    pub resumed_from_checkpoint: bool,
    /// Its stage in the target.
    pub stage_state: StageState,
    /// Its verdict, on its way.
    pub pending_outcome: Option<Wants>,
    /// Coordination: its lease.
    pub lease_state: LeaseState,
    /// Coordination: the lease's age.
    pub lease_age: u16,
    /// `TwoStores`, reaper memory: was seen without lease and permit.
    pub lost_seen: bool,
}

impl AttemptRow {
    /// An attempt that is not allocated.
    pub const UNUSED: Self = Self {
        attempt_state: AttemptState::Unused,
        attempt_worker: None,
        attempt_progress: 0,
        initial_progress: 0,
        resumed_from_checkpoint: false,
        stage_state: StageState::NoStage,
        pending_outcome: None,
        lease_state: LeaseState::NoLease,
        lease_age: 0,
        lost_seen: false,
    };
}

/// What is kept per worker incarnation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct WorkerRow {
    /// Whether it runs.
    pub worker_state: WorkerState,
    /// Its links, in the order of [`Service::ALL`].
    pub links: [LinkState; 3],
}
