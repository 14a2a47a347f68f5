//! The names of the spec: 30 actions of `Remora.tla` and the six more of `TwoStores.tla`.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Where an action has its linearization point (protocol §1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Room {
    /// The store that holds the truth.
    Durable,
    /// The store that can be lost and rebuilt.
    Coordination,
    /// Where results lie.
    Target,
    /// A process's own memory.
    Worker,
    /// Nobody's doing: time, crashes, cut links. Driven by model, simulation and chaos only.
    World,
}

macro_rules! actions {
    ($($(#[$doc:meta])* $name:ident, $text:literal, $room:ident;)*) => {
        /// An action of the spec, under its own name.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Action { $($(#[$doc])* $name,)* }

        impl Action {
            /// All actions: the 30 of `Remora`, then the six of `TwoStores`.
            pub const ALL: [Self; 36] = [$(Self::$name,)*];

            /// The spec's name, such as `AuthorizeAttempt`.
            #[must_use]
            pub fn spec_name(self) -> &'static str {
                match self { $(Self::$name => stringify!($name),)* }
            }

            /// The name in code, SQL, events and metrics, such as `authorize_attempt`.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }

            /// The one room that the action writes (or, for the two reads, reads).
            #[must_use]
            pub fn room(self) -> Room {
                match self { $(Self::$name => Room::$room,)* }
            }

            /// Whether only `TwoStores` has it.
            #[must_use]
            pub fn only_two_stores(self) -> bool {
                self >= Self::DispatchRead
            }
        }
    };
}

actions! {
    /// The outbox's row becomes a queue entry.
    Enqueue, "enqueue", Coordination;
    /// A queue entry becomes a permit of one worker.
    Reserve, "reserve", Coordination;
    /// The claim: allocates the next attempt and its token.
    AuthorizeAttempt, "authorize_attempt", Durable;
    /// The permit becomes a lease, the attempt executes.
    ActivateAttempt, "activate_attempt", Coordination;
    /// The lease is young again.
    RenewLease, "renew_lease", Coordination;
    /// Time passes.
    Tick, "tick", World;
    /// A lease that was not renewed ends.
    ExpireLease, "expire_lease", Coordination;
    /// Everything in coordination is gone.
    LoseCoordinationState, "lose_coordination_state", World;
    /// A worker can no longer reach a service.
    DropLink, "drop_link", World;
    /// A worker can reach it again.
    RestoreLink, "restore_link", World;
    /// A worker process dies.
    CrashWorker, "crash_worker", World;
    /// A worker process starts, under a new incarnation.
    StartIncarnation, "start_incarnation", Worker;
    /// A permit nobody will use is taken back.
    ReleaseReservation, "release_reservation", Coordination;
    /// Authority of a lost attempt is revoked.
    ReapLostAttempt, "reap_lost_attempt", Durable;
    /// A job whose retry is due is queued again.
    ScheduleRetry, "schedule_retry", Durable;
    /// From here on nothing of the job will be published.
    RequestCancel, "request_cancel", Durable;
    /// The attempt of a cancelling job loses its authority.
    FinalizeCancel, "finalize_cancel", Durable;
    /// The worker is told of a cancel.
    PublishCancelNotice, "publish_cancel_notice", Coordination;
    /// The attempt's process tree is ended by its worker.
    CooperativeStop, "cooperative_stop", Worker;
    /// The lease of an attempt without authority is given back.
    ReleaseLease, "release_lease", Coordination;
    /// What coordination still holds of a terminal job goes away.
    CleanTerminalCoordination, "clean_terminal_coordination", Coordination;
    /// The attempt writes to its own stage.
    AdvanceAttempt, "advance_attempt", Target;
    /// State and output so far become what the next attempt starts from.
    PersistCheckpoint, "persist_checkpoint", Durable;
    /// A checkpoint that failed verification is never used again.
    InvalidateCheckpoint, "invalidate_checkpoint", Durable;
    /// Display only.
    ReportProgress, "report_progress", Coordination;
    /// The attempt's verdict is on its way.
    SendOutcome, "send_outcome", Worker;
    /// The one compare-and-swap that publishes.
    AcceptSuccess, "accept_success", Durable;
    /// The attempt failed; the job retries or fails.
    AcceptFailure, "accept_failure", Durable;
    /// The refused answer to an outcome.
    RejectOutcome, "reject_outcome", Durable;
    /// What a dead attempt wrote and nobody refers to is deleted.
    CleanupStage, "cleanup_stage", Target;
    /// A dispatcher reads a job as dispatchable.
    DispatchRead, "dispatch_read", Durable;
    /// A worker whose claim was refused hands its permit back.
    ClaimRefused, "claim_refused", Coordination;
    /// A worker whose activation was refused stops that attempt.
    ActivateRefused, "activate_refused", Worker;
    /// A reaper sees an attempt without lease or permit.
    ReapObserve, "reap_observe", Coordination;
    /// A lease is put back after a loss.
    RestoreLease, "restore_lease", Coordination;
    /// The permit of a live worker is dropped by age.
    FalseSuspicion, "false_suspicion", Coordination;
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_in_code_is_the_spec_name_in_snake_case() {
        for action in Action::ALL {
            let mut snake = String::new();
            for letter in action.spec_name().chars() {
                if letter.is_uppercase() && !snake.is_empty() {
                    snake.push('_');
                }
                snake.extend(letter.to_lowercase());
            }
            assert_eq!(action.name(), snake);
            assert_eq!(serde_json::to_string(&action).unwrap(), format!("\"{snake}\""));
        }
    }

    #[test]
    fn six_actions_are_two_stores_only() {
        assert_eq!(Action::ALL.iter().filter(|action| action.only_two_stores()).count(), 6);
    }
}
