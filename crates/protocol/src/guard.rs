//! The conjuncts of the spec's guards, and those that rooms add, by name.
//!
//! A refusal is an answer that names the first guard that was false. Stores, events, metrics, messages
//! and tests all use these names; none uses a number.

use std::fmt;

use serde::{Deserialize, Serialize};

macro_rules! guards {
    ($($(#[$doc:meta])* $name:ident = $text:literal;)*) => {
        /// A condition an action needs. The doc of each says what must hold.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Guard { $($(#[$doc])* $name,)* }

        impl Guard {
            /// All guards.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// The name in answers, events and SQL.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }

            /// The guard of that name.
            #[must_use]
            pub fn from_name(name: &str) -> Option<Self> {
                match name { $($text => Some(Self::$name),)* _ => None }
            }
        }
    };
}

guards! {
    // Durable.
    /// The job is known.
    JobExists = "job_exists";
    /// `phase[j] = Queued`.
    PhaseQueued = "phase_queued";
    /// `phase[j] = Running`.
    PhaseRunning = "phase_running";
    /// `phase[j] = RetryWait`.
    PhaseRetryWait = "phase_retry_wait";
    /// `phase[j] = Cancelling`.
    PhaseCancelling = "phase_cancelling";
    /// `phase[j] ∈ {Queued, Running, RetryWait}`.
    Cancellable = "cancellable";
    /// `¬Terminal(j)`.
    NotTerminal = "not_terminal";
    /// `Terminal(j)`.
    Terminal = "terminal";
    /// `dispatchNeeded[j]`.
    DispatchNeeded = "dispatch_needed";
    /// `currentToken[j] < MaxAttempts`.
    AttemptsLeft = "attempts_left";
    /// `attemptState[a] = AttemptUnused`.
    AttemptUnused = "attempt_unused";
    /// The claim names the checkpoint revision that is there now.
    CheckpointChanged = "checkpoint_changed";
    /// The attempt was not revoked before this (repeated) claim of it.
    Lost = "lost";
    /// `CurrentAuthority(a)`.
    Authority = "authority";
    /// `¬CurrentAuthority(a)`.
    AuthorityLost = "authority_lost";
    /// `¬cancelRequested[j]`.
    NotCancelRequested = "not_cancel_requested";
    /// `cancelRequested[j]`.
    CancelRequested = "cancel_requested";
    /// `attemptProgress[a] > 0`.
    ProgressPositive = "progress_positive";
    /// The checkpoint's count is above the one stored for this attempt.
    CheckpointAdvances = "checkpoint_advances";
    /// `checkpointValid[j]`.
    CheckpointValid = "checkpoint_valid";
    /// The retry is due.
    Due = "due";
    /// The row is not set aside.
    NotSetAside = "not_set_aside";
    /// The idempotency key stands for the same request.
    SameRequest = "same_request";
    /// The pool's epoch in the durable store is the one named.
    EpochCurrent = "epoch_current";

    // Coordination.
    /// `¬queued[j]`.
    NotQueued = "not_queued";
    /// `queued[j]`.
    Queued = "queued";
    /// `reservation[j] = NoWorker`.
    NotReserved = "not_reserved";
    /// The reservation named is held by the worker named.
    ReservationHeld = "reservation_held";
    /// `reservation[j] ≠ w`: the attempt's own worker holds no reservation of the job.
    ReservationNotHeld = "reservation_not_held";
    /// There is a place under the pool's global limit.
    GlobalLimit = "global_limit";
    /// There is a place under the worker's own limit.
    LocalLimit = "local_limit";
    /// The window has room.
    WindowFull = "window_full";
    /// A live worker has registered for the window.
    WindowRegistered = "window_registered";
    /// The queue is not paused.
    QueuePaused = "queue_paused";
    /// `leaseState[a] = LeaseLive`, held by this incarnation.
    LeaseLive = "lease_live";
    /// `leaseState[a] ≠ LeaseLive`.
    LeaseNotLive = "lease_not_live";
    /// The attempt needs its lease no more: it has ended, or its authority or its job has.
    LeaseUseless = "lease_useless";
    /// `leaseState[a] = LeaseExpired`.
    LeaseExpired = "lease_expired";
    /// `leaseAge[a] > 0`.
    LeaseAged = "lease_aged";
    /// `leaseAge[a] = LeaseLimit`.
    LeaseAtLimit = "lease_at_limit";
    /// The lease did not end by age in this epoch.
    LeaseEndedByAge = "lease_ended_by_age";
    /// `¬cancelNotice[j]`.
    NotNoticed = "not_noticed";
    /// Something of the job is still in coordination.
    SomethingToClean = "something_to_clean";
    /// The progress shown differs from the one reported.
    ProgressChanged = "progress_changed";
    /// The request's epoch is the store's.
    Stale = "stale";
    /// The pool is open: its repair after a loss has ended.
    Opening = "opening";
    /// The grace after an epoch's beginning has not ended yet (needed to restore a lease).
    GraceOver = "grace_over";
    /// The grace after an epoch's beginning has ended (needed to judge an older epoch's attempt).
    Grace = "grace";
    /// The deadline of the reservation has passed.
    ReservationAtLimit = "reservation_at_limit";
    /// `coordinationLostOnce`: leases are restored only after a loss.
    CoordinationLost = "coordination_lost";

    // Worker memory.
    /// `workerState[w] = WorkerUp`.
    WorkerUp = "worker_up";
    /// `workerState[w] = WorkerUnused`.
    WorkerUnused = "worker_unused";
    /// `CanReach(w, Coordination)`.
    ReachCoordination = "reach_coordination";
    /// `CanReach(w, Durable)`.
    ReachDurable = "reach_durable";
    /// `CanReach(w, Target)`.
    ReachTarget = "reach_target";
    /// `attemptState[a] = AttemptAuthorized`.
    AttemptAuthorized = "attempt_authorized";
    /// `attemptState[a] = AttemptExecuting`.
    AttemptExecuting = "attempt_executing";
    /// The attempt is not merely authorized, or its job has no reservation (`ReapLostAttempt` in `Remora`).
    NotAboutToStart = "not_about_to_start";
    /// The attempt's process is gone, or its worker is.
    AttemptStopped = "attempt_stopped";
    /// One of the four signals to stop has come.
    StopSignal = "stop_signal";
    /// `pendingOutcome[a] = NoOutcome`.
    NoOutcomePending = "no_outcome_pending";
    /// The outcome that this action answers is pending.
    OutcomePending = "outcome_pending";
    /// Neither of the two accepting actions could take it.
    OutcomeNotAcceptable = "outcome_not_acceptable";
    /// `w ∈ ticket[j]`.
    TicketHeld = "ticket_held";
    /// The claim would be refused.
    ClaimImpossible = "claim_impossible";
    /// `¬dispatchSeen[j]`.
    NotDispatchSeen = "not_dispatch_seen";
    /// `dispatchSeen[j]`.
    DispatchSeen = "dispatch_seen";
    /// `¬lostSeen[a]`.
    NotLostSeen = "not_lost_seen";
    /// `lostSeen[a]`.
    LostSeen = "lost_seen";
    /// The reservation's holder will not use it.
    ReservationUseless = "reservation_useless";

    // Target.
    /// `amount ∈ 1..MaxProgress`.
    AmountInRange = "amount_in_range";
    /// `amount > attemptProgress[a]`.
    AmountAdvances = "amount_advances";
    /// `stageState[a] = StageComplete`.
    StageComplete = "stage_complete";
    /// `stageState[a] ∈ {StagePartial, StageComplete}`.
    StageWritten = "stage_written";
    /// `committedAttempt[j] ≠ a`.
    NotCommitted = "not_committed";

    // World.
    /// `FaultsEnabled`, and of this service.
    FaultEnabled = "fault_enabled";
    /// `¬coordinationLostOnce`.
    NotLostYet = "not_lost_yet";
    /// The link is in the state that this change starts from.
    LinkState = "link_state";
    /// Some live lease can still age.
    SomeLeaseAges = "some_lease_ages";
}

impl fmt::Display for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_guard_reads_back_from_its_name_and_has_it_alone() {
        for guard in Guard::ALL {
            assert_eq!(Guard::from_name(guard.name()), Some(*guard));
            assert_eq!(serde_json::to_string(guard).unwrap(), format!("\"{guard}\""));
        }
        assert_eq!(Guard::from_name("7"), None);
    }
}
