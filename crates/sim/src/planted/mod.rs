//! Faults of the rooms that are put in on purpose, to see that a simulation finds them.
//!
//! Promises: each is what a room without one guard, or with one careless line, would do, and all else is as it was.
//! Does not touch agents or workers: those are the real ones.

mod coordination_room;
mod durable_room;
mod target_room;

use std::sync::Arc;

use crate::core::Core;
use crate::world::Shared;
use coordination_room::PlantedCoordination;
use durable_room::PlantedDurable;
use target_room::PlantedTarget;

macro_rules! faults {
    ($($(#[$doc:meta])* $name:ident => $text:literal,)*) => {
        /// A fault put in.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Planted {
            $($(#[$doc])* $name,)*
        }

        impl Planted {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// Its name on a command line.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$name => $text,)*
                }
            }
        }
    };
}

faults! {
    /// A result is published by the job's id, whatever attempt it is of.
    SuccessWithoutToken => "success-without-token",
    /// A checkpoint is stored by the job's id, so that a zombie's is.
    CheckpointWithoutToken => "checkpoint-without-token",
    /// A checkpoint is acknowledged and not stored.
    CheckpointForgotten => "checkpoint-forgotten",
    /// The reaper's judgement of one attempt revokes whichever runs.
    ReapByJob => "reap-by-job",
    /// The second attempt gets the token of the first.
    TokenReused => "token-reused",
    /// A cancel is acknowledged and forgotten.
    CancelForgotten => "cancel-forgotten",
    /// A job that ended is cancelled all the same, or so the answer says.
    CancelAfterPublish => "cancel-after-publish",
    /// Running jobs are offered again.
    EnqueueOfRunning => "enqueue-of-running",
    /// Some rows of the outbox are never offered.
    OutboxRowSkipped => "outbox-row-skipped",
    /// The stages of running attempts are swept.
    SweepOfLiveStage => "sweep-of-live-stage",
    /// A sweep keeps nothing of what the valid checkpoint refers to.
    SweepKeepsNothing => "sweep-keeps-nothing",
    /// Whoever registers under a worker's name renews the leases of its former life.
    LeaseByName => "lease-by-name",
    /// A lease that is released a second time takes another one along.
    ReleaseTwice => "release-twice",
    /// A lease is released by the job's id, so that a zombie's release ends its successor's.
    ReleaseByJob => "release-by-job",
    /// An activation is always said to have worked, with whatever permit.
    ActivateWithoutPermit => "activate-without-permit",
    /// What coordination does not say is taken for a lost attempt.
    ReapFromSilence => "reap-from-silence",
    /// There are more places than there are.
    LimitForgotten => "limit-forgotten",
    /// A result is said to be laid out before it is.
    PublishBeforeComplete => "publish-before-complete",
}

/// The rooms with a fault in them.
pub(crate) fn plant(fault: Option<Planted>, rooms: Shared, core: &Arc<Core>) -> Shared {
    let Some(fault) = fault else { return rooms };
    Shared {
        durable: Arc::new(PlantedDurable { inner: rooms.durable, fault }),
        coordination: Arc::new(PlantedCoordination::new(rooms.coordination, fault)),
        target: Arc::new(PlantedTarget { inner: rooms.target, fault, core: Arc::clone(core) }),
    }
}

/// Forwards every method of a port, but for those that `$body` has an arm for.
macro_rules! planted_port {
    ([$room:ident $body:ident $($extra:item)?] $port:ident {
        $($method:ident($($argument:ident: $type:ty),*) -> $value:ty;)*
    }) => {
        #[async_trait]
        impl $port for $room {
            $(async fn $method(&self, $($argument: $type),*) -> Result<$value, Fault> {
                $body!($method self $($argument)*)
            })*

            $($extra)?
        }
    };
}

use planted_port;
