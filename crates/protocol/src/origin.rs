//! Who asked, when by its own count, and on what it relied: the edges that let the audit order a trace
//! from many machines without comparing clocks (protocol §6).

use serde::{Deserialize, Serialize};

use crate::action::Room;
use crate::id::ActorId;

/// A moment of a room. Durable: the epoch is 0 and the order is the job's revision, raised by the same
/// statement. Coordination: the pool's epoch, and the pool's revision raised by the same step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct Mark {
    /// The pool's epoch; 0 in the durable room.
    pub epoch: u64,
    /// The order inside it.
    pub order: u64,
}

/// A read or an answer that a later action rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Judged {
    /// The room that was read.
    pub room: Room,
    /// When, by that room's count.
    pub mark: Mark,
}

impl Judged {
    /// A read of the job's row at this mark.
    #[must_use]
    pub fn durable(mark: Mark) -> Self {
        Self { room: Room::Durable, mark }
    }

    /// A read of the pool at this mark.
    #[must_use]
    pub fn coordination(mark: Mark) -> Self {
        Self { room: Room::Coordination, mark }
    }
}

/// Carried by every request to a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// The process (or agent) that asks.
    pub actor: ActorId,
    /// Its own number of this request: one higher each time, kept when the request is sent again.
    pub sequence: u64,
    /// All its requests up to this number had been answered when this one was sent.
    pub sent_after: u64,
}
