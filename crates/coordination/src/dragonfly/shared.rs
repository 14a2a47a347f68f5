//! One request to the pool: sent as a script, read, judged for staleness.
//!
//! Promises: an answer of another epoch, or of a moment before one that this process had seen when it sent the request,
//! is stale as a whole (rule 9).

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use protocol::{EventSink, Fault, Mark};

use super::keys::Names;
use super::link::{Call, Link};
use super::reply::{Answered, Reply, corrupt};
use super::script::Script;
use super::wakes::Hub;
use super::words::Words;
use super::{Clock, millis};
use crate::Wake;

/// What the parts of the room share.
pub(super) struct Shared {
    pub(super) link: Arc<dyn Link>,
    pub(super) names: Names,
    pub(super) clock: Option<Clock>,
    pub(super) events: Arc<dyn EventSink>,
    pub(super) hub: Arc<Hub>,
    /// The epoch that reads ask for.
    pub(super) epoch: AtomicU64,
    /// The latest moment of the pool that was seen.
    pub(super) highest: Mutex<Mark>,
}

/// A request: a script, the epoch believed, and its own arguments.
pub(super) struct Request<'a> {
    pub(super) script: Script,
    pub(super) epoch: u64,
    pub(super) words: Words,
    pub(super) doing: &'a str,
}

/// An answer, or the epoch of the store that refuses as stale.
pub(super) enum Heard {
    Current(Answered),
    Stale(u64),
}

impl Shared {
    pub(super) fn highest(&self) -> Mark {
        *self.highest.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn saw(&self, mark: Mark) {
        let mut highest = self.highest.lock().unwrap_or_else(PoisonError::into_inner);
        *highest = (*highest).max(mark);
    }

    /// Sends a script and gives its raw answer.
    pub(super) async fn send(&self, request: Request<'_>) -> Result<Reply, Fault> {
        let Request { script, epoch, words, doing } = request;
        let now = self.clock.as_ref().map_or_else(Vec::new, |clock| millis(clock()).to_string().into_bytes());
        let words = std::iter::once(now).chain(words.0).collect();
        let call = Call { script, keys: self.names.all(epoch), epoch, words, doing };
        self.link.script(&call).await
    }

    /// Sends a script and judges its answer, which may be of an older moment than one seen before.
    pub(super) async fn read(&self, request: Request<'_>) -> Result<Heard, Fault> {
        let (believed, doing) = (request.epoch, request.doing);
        let answered = Answered::read(self.send(request).await?).map_err(corrupt(doing))?;
        if answered.epoch == 0 || answered.epoch != believed {
            return Ok(Heard::Stale(answered.epoch));
        }
        self.link.lease_is(answered.lease_ms);
        self.epoch.store(answered.epoch, Ordering::SeqCst);
        if answered.freed {
            self.hub.tell_one(Wake::Freed);
        }
        Ok(Heard::Current(answered))
    }

    /// The same; an answer of an older moment is stale.
    pub(super) async fn ask(&self, request: Request<'_>) -> Result<Heard, Fault> {
        let seen_before = self.highest();
        let heard = self.read(request).await?;
        let Heard::Current(answered) = &heard else { return Ok(heard) };
        let mark = Mark { epoch: answered.epoch, order: answered.order };
        if mark < seen_before {
            return Ok(Heard::Stale(answered.epoch));
        }
        self.saw(mark);
        Ok(heard)
    }
}
