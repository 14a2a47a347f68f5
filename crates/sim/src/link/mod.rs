//! The network between a process and a room: what is sent may be lost, late, doubled, or answered in vain.
//!
//! Promises: a request is carried out by the room whole or not at all, at a moment of its own, whatever becomes of its
//! sender; the sender learns of an answer, or that there is none. Does not touch what is said.

mod rooms;
mod target;

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use protocol::{ActorId, Fault, FaultKind, Origin};
use rand::RngExt;
use rand::rngs::StdRng;
use runtime::BoxFuture;
use tokio::sync::oneshot;

use crate::core::{Core, WORLD};
use crate::now::now;
use crate::record::Record;

pub(crate) use rooms::{CoordinationLink, DurableLink, carry_wakes};
pub(crate) use target::TargetLink;

/// Which room a link leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Service {
    Durable,
    Coordination,
    Target,
}

impl Service {
    pub(crate) const ALL: [Self; 3] = [Self::Durable, Self::Coordination, Self::Target];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Durable => "durable",
            Self::Coordination => "coordination",
            Self::Target => "target",
        }
    }

    /// How long a client waits for an answer.
    fn patience(self) -> Duration {
        match self {
            Self::Durable => Duration::from_secs(2),
            Self::Coordination => Duration::from_secs(1),
            Self::Target => Duration::from_secs(3),
        }
    }
}

/// How often something happens to a request, in thousandths.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Noise {
    pub(crate) lost_request: u32,
    pub(crate) lost_reply: u32,
    pub(crate) doubled: u32,
    pub(crate) late: u32,
    pub(crate) lost_wake: u32,
}

/// The network of a world.
pub(crate) struct Network {
    core: Arc<Core>,
    chance: Mutex<StdRng>,
    noise: Mutex<Noise>,
    answers: Mutex<Answers>,
    record: Arc<Record>,
}

/// What has been asked and answered.
#[derive(Default)]
struct Answers {
    /// The last number of each actor.
    last: BTreeMap<ActorId, u64>,
    /// Requests that were answered, and their actor's last number then. A copy that comes later is recorded with it:
    /// what its actor says of the order of its requests holds for the one it was answered, not for this one.
    answered: BTreeMap<(ActorId, u64), u64>,
}

impl Network {
    pub(crate) fn new(core: &Arc<Core>, record: &Arc<Record>, chance: StdRng, noise: Noise) -> Arc<Self> {
        Arc::new(Self {
            core: Arc::clone(core),
            chance: Mutex::new(chance),
            noise: Mutex::new(noise),
            answers: Mutex::default(),
            record: Arc::clone(record),
        })
    }

    /// From here on nothing is lost or late.
    pub(crate) fn calm(&self) {
        *self.noise.lock().unwrap_or_else(PoisonError::into_inner) = Noise::default();
    }

    fn answers(&self) -> MutexGuard<'_, Answers> {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn asked(&self, origin: Option<Origin>) {
        let Some(origin) = origin else { return };
        let mut answers = self.answers();
        let last = answers.last.entry(origin.actor).or_default();
        *last = (*last).max(origin.sequence);
    }

    fn answered(&self, origin: Option<Origin>) {
        let Some(origin) = origin else { return };
        let mut answers = self.answers();
        let last = answers.last.get(&origin.actor).copied().unwrap_or(origin.sequence);
        answers.answered.entry((origin.actor, origin.sequence)).or_insert(last);
    }

    /// Has a request carried out. Rooms answer where they stand, so that what they record meanwhile is of it.
    fn carry_out<T>(&self, request: &Request<T>) -> T {
        let of = request.origin.map(|origin| (origin.actor, origin.sequence));
        self.record.answered_before(of.and_then(|of| self.answers().answered.get(&of).copied()));
        let answer = now((request.carry)());
        self.record.answered_before(None);
        answer
    }

    fn below(&self, end: u64) -> u64 {
        self.chance.lock().unwrap_or_else(PoisonError::into_inner).random_range(0..end.max(1))
    }

    fn happens(&self, thousandths: impl Fn(&Noise) -> u32) -> bool {
        let often = thousandths(&self.noise.lock().unwrap_or_else(PoisonError::into_inner));
        often > 0 && self.below(1_000) < u64::from(often)
    }

    /// A way that takes a moment.
    fn way(&self, slow: Duration) -> Duration {
        Duration::from_micros(100 + self.below(1_900)) + slow
    }
}

/// The state of one link, which a process keeps when it starts again.
#[derive(Default)]
pub(crate) struct Wire {
    /// Until when it is down, in milliseconds of the world.
    down_until_ms: AtomicU64,
    /// Whether whoever sends is told so at once.
    closed: AtomicU64,
    /// What each way takes longer, in milliseconds.
    slow_ms: AtomicU64,
    /// Until when what is under way stays there, in milliseconds of the world.
    held_until_ms: AtomicU64,
}

impl Wire {
    /// Takes it down; closed ones refuse at once, the others swallow.
    pub(crate) fn cut(&self, until: Duration, closed: bool) {
        let until = u64::try_from(until.as_millis()).unwrap_or(u64::MAX);
        self.down_until_ms.fetch_max(until, Ordering::Relaxed);
        self.closed.store(u64::from(closed), Ordering::Relaxed);
    }

    /// Keeps what is under way, and lets it arrive then.
    pub(crate) fn hold(&self, until: Duration) {
        let until = u64::try_from(until.as_millis()).unwrap_or(u64::MAX);
        self.held_until_ms.fetch_max(until, Ordering::Relaxed);
    }

    fn held_until(&self) -> Duration {
        Duration::from_millis(self.held_until_ms.load(Ordering::Relaxed))
    }

    /// Makes it slow, or as fast as before with 0.
    pub(crate) fn slow(&self, ms: u64) {
        self.slow_ms.store(ms, Ordering::Relaxed);
    }

    /// Takes all trouble away.
    pub(crate) fn heal(&self) {
        self.down_until_ms.store(0, Ordering::Relaxed);
        self.held_until_ms.store(0, Ordering::Relaxed);
        self.slow(0);
    }

    fn is_down(&self, now: Duration) -> bool {
        now.as_millis() < u128::from(self.down_until_ms.load(Ordering::Relaxed))
    }

    fn slowness(&self) -> Duration {
        Duration::from_millis(self.slow_ms.load(Ordering::Relaxed))
    }
}

/// One process's way to one room.
#[derive(Clone)]
pub(crate) struct Path {
    pub(crate) network: Arc<Network>,
    pub(crate) wire: Arc<Wire>,
    pub(crate) service: Service,
}

/// A request, to be carried out by the room.
pub(crate) type Carry<T> = Arc<dyn Fn() -> BoxFuture<T> + Send + Sync>;

/// A request and who sent it.
pub(crate) struct Request<T> {
    pub(crate) carry: Carry<T>,
    pub(crate) origin: Option<Origin>,
}

impl<T> Clone for Request<T> {
    fn clone(&self) -> Self {
        Self { carry: Arc::clone(&self.carry), origin: self.origin }
    }
}

/// No answer came, and whether the request may have been carried out.
pub(crate) struct Silence {
    pub(crate) kind: FaultKind,
}

impl Path {
    /// Sends a request and waits for its answer.
    pub(crate) async fn carry<T: Send + 'static>(&self, request: Request<T>) -> Result<T, Silence> {
        let core = &self.network.core;
        if self.wire.is_down(core.now()) && self.wire.closed.load(Ordering::Relaxed) == 1 {
            core.sleep(Duration::from_millis(5)).await;
            return Err(Silence { kind: FaultKind::Unreachable });
        }
        let (sender, receiver) = oneshot::channel();
        let origin = request.origin;
        self.network.asked(origin);
        if !self.network.happens(|noise| noise.lost_request) {
            let path = self.clone();
            core.spawn(WORLD, Box::pin(async move { path.deliver(request, sender).await }));
        }
        let answered = async move {
            match receiver.await {
                Ok(answer) => answer,
                Err(_) => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            answer = answered => {
                self.network.answered(origin);
                Ok(answer)
            }
            () = core.sleep(self.service.patience()) => Err(Silence { kind: FaultKind::Ambiguous }),
        }
    }

    async fn deliver<T: Send + 'static>(self, request: Request<T>, sender: oneshot::Sender<T>) {
        let (network, core) = (&self.network, &self.network.core);
        core.sleep(self.there()).await;
        self.wait_while_held().await;
        if self.wire.is_down(core.now()) {
            return;
        }
        let answer = network.carry_out(&request);
        // A write to the target goes over one connection, which does not say anything twice.
        if self.service != Service::Target && network.happens(|noise| noise.doubled) {
            let again = Duration::from_millis(network.below(3_000));
            let inner = Arc::clone(network);
            core.spawn(
                WORLD,
                Box::pin(async move {
                    inner.core.sleep(again).await;
                    drop(inner.carry_out(&request));
                }),
            );
        }
        if network.happens(|noise| noise.lost_reply) {
            return;
        }
        core.sleep(network.way(self.wire.slowness())).await;
        self.wait_while_held().await;
        if !self.wire.is_down(core.now()) {
            // Whoever asked may be gone.
            let _ = sender.send(answer);
        }
    }

    async fn wait_while_held(&self) {
        let core = &self.network.core;
        let rest = self.wire.held_until().saturating_sub(core.now());
        if !rest.is_zero() {
            core.sleep(rest + self.network.way(Duration::ZERO)).await;
        }
    }

    fn there(&self) -> Duration {
        let late = if self.network.happens(|noise| noise.late) { self.network.below(4_000) } else { 0 };
        self.network.way(self.wire.slowness()) + Duration::from_millis(late)
    }

    /// Whether a hint gets through.
    fn loses_wake(&self) -> bool {
        let now = self.network.core.now();
        self.wire.is_down(now)
            || self.wire.held_until() > now
            || self.network.happens(|noise| noise.lost_wake)
    }

    /// The same for a room whose own answers may be faults.
    pub(crate) async fn call<T, F>(
        &self,
        doing: &'static str,
        origin: Option<Origin>,
        ask: impl Fn() -> F + Send + Sync + 'static,
    ) -> Result<T, Fault>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, Fault>> + Send + 'static,
    {
        let carry: Carry<Result<T, Fault>> = Arc::new(move || Box::pin(ask()));
        match self.carry(Request { carry, origin }).await {
            Ok(answer) => answer,
            Err(silence) => Err(Fault::new(silence.kind, doing)),
        }
    }
}
