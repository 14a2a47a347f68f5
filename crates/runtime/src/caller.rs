//! An actor's count of its own requests (protocol §6): which number a request has, and up to which number
//! all earlier ones had been answered when it was sent.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use protocol::{ActorId, Origin};

/// One actor's counter. Cheap to clone; clones share the count.
#[derive(Clone)]
pub struct Caller {
    actor: ActorId,
    state: Arc<Mutex<Count>>,
}

#[derive(Default)]
struct Count {
    last: u64,
    open: BTreeSet<u64>,
}

impl Caller {
    /// A counter at 0.
    #[must_use]
    pub fn new(actor: ActorId) -> Self {
        Self { actor, state: Arc::default() }
    }

    /// Whose it is.
    #[must_use]
    pub fn actor(&self) -> ActorId {
        self.actor
    }

    /// Numbers a request. It counts as answered when the result is dropped; sending it again keeps it.
    #[must_use]
    pub fn send(&self) -> Sent {
        let mut count = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        count.last += 1;
        let sequence = count.last;
        let sent_after = count.open.first().copied().unwrap_or(sequence) - 1;
        count.open.insert(sequence);
        Sent { origin: Origin { actor: self.actor, sequence, sent_after }, state: Arc::clone(&self.state) }
    }
}

/// A request under way.
pub struct Sent {
    /// What the request carries.
    pub origin: Origin,
    state: Arc<Mutex<Count>>,
}

impl Drop for Sent {
    fn drop(&mut self) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).open.remove(&self.origin.sequence);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_knows_up_to_where_all_were_answered() {
        let caller = Caller::new(ActorId(1));
        let first = caller.send();
        assert_eq!((first.origin.sequence, first.origin.sent_after), (1, 0));
        let second = caller.send();
        assert_eq!((second.origin.sequence, second.origin.sent_after), (2, 0));
        drop(second);
        assert_eq!(caller.send().origin.sent_after, 0);
        drop(first);
        assert_eq!(caller.send().origin.sent_after, 3);
    }
}
