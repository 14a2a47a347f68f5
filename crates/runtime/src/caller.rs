//! An actor's count of its own requests (protocol §6): which number a request has, and up to which number
//! all earlier ones had been answered when it was sent.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use protocol::{ActorId, Fault, FaultKind, Origin};

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

    /// Numbers a request. It counts as answered from the answer on that [`Sent::of`] saw, and one that never is stays
    /// open for good: it may yet happen. Sending it again keeps its number.
    #[must_use]
    pub fn send(&self) -> Sent {
        let mut count = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        count.last += 1;
        let sequence = count.last;
        let sent_after = count.open.first().copied().unwrap_or(sequence) - 1;
        count.open.insert(sequence);
        let origin = Origin { actor: self.actor, sequence, sent_after };
        Sent { origin, asked: AtomicBool::new(false), state: Arc::clone(&self.state) }
    }
}

/// A request under way.
pub struct Sent {
    /// What the request carries.
    pub origin: Origin,
    asked: AtomicBool,
    state: Arc<Mutex<Count>>,
}

impl Sent {
    /// Waits for the answer to this request. Not waiting to the end, or a fault that leaves open whether it happened,
    /// leaves it open.
    ///
    /// # Errors
    /// The request's own.
    pub async fn of<T>(&self, request: impl Future<Output = Result<T, Fault>>) -> Result<T, Fault> {
        let before = self.asked.swap(true, Ordering::Relaxed);
        self.count().open.insert(self.origin.sequence);
        let answer = request.await;
        let answered = match answer.as_ref().map_err(|fault| fault.kind) {
            Ok(_) | Err(FaultKind::Corrupt) => true,
            // Not applied this time, but perhaps an earlier time.
            Err(FaultKind::Unreachable) => !before,
            Err(FaultKind::Ambiguous) => false,
        };
        if answered {
            self.count().open.remove(&self.origin.sequence);
        }
        answer
    }

    fn count(&self) -> MutexGuard<'_, Count> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Sent {
    fn drop(&mut self) {
        if !self.asked.load(Ordering::Relaxed) {
            self.count().open.remove(&self.origin.sequence);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn answered(sent: Sent, answer: Result<(), FaultKind>) {
        let answer = answer.map_err(|kind| Fault::new(kind, "try"));
        let _ = sent.of(async { answer }).await;
    }

    #[tokio::test]
    async fn a_request_knows_up_to_where_all_were_answered() {
        let caller = Caller::new(ActorId(1));
        let first = caller.send();
        assert_eq!((first.origin.sequence, first.origin.sent_after), (1, 0));
        let second = caller.send();
        assert_eq!((second.origin.sequence, second.origin.sent_after), (2, 0));
        answered(second, Ok(())).await;
        assert_eq!(caller.send().origin.sent_after, 0);
        answered(first, Err(FaultKind::Unreachable)).await;
        assert_eq!(caller.send().origin.sent_after, 3, "the third was never sent");
    }

    #[tokio::test]
    async fn what_may_yet_happen_is_never_taken_for_answered() {
        let caller = Caller::new(ActorId(1));
        let first = caller.send();
        let ambiguous = first.of(async { Err::<(), _>(Fault::new(FaultKind::Ambiguous, "try")) }).await;
        assert!(ambiguous.is_err());
        let unreachable = first.of(async { Err::<(), _>(Fault::new(FaultKind::Unreachable, "try")) }).await;
        assert!(unreachable.is_err());
        assert_eq!(caller.send().origin.sent_after, 0);
        first.of(async { Ok(()) }).await.unwrap();
        assert_eq!(caller.send().origin.sent_after, 2, "asked again it was answered");

        let given_up = caller.send();
        assert!(
            tokio::time::timeout(
                std::time::Duration::ZERO,
                given_up.of(std::future::pending::<Result<(), Fault>>())
            )
            .await
            .is_err()
        );
        let open = given_up.origin.sequence;
        drop(given_up);
        assert_eq!(caller.send().origin.sent_after, open - 1);
    }
}
