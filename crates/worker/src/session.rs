//! A worker: what its parts share, its start and its end.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use coordination::{At, CoordinationRoom, Registration};
use durable::DurableRoom;
use protocol::{Action, Detail, EventSink, JobSpec, Window};
use runtime::{Caller, Runtime, Sent, Spawner};
use target::Target;
use thiserror::Error;
use tokio::sync::{Notify, watch};

use crate::handler::{Executor, Executors, Handler};
use crate::held::Held;
use crate::keeper;
use crate::options::{WorkerOptions, WorkerOptionsError};
use crate::reserve;
use crate::stage::{WorkFolder, WorkFolderError};

/// The three rooms, as this process reaches them.
#[derive(Clone)]
pub struct Rooms {
    /// Truth.
    pub durable: Arc<dyn DurableRoom>,
    /// Coordination.
    pub coordination: Arc<dyn CoordinationRoom>,
    /// Results.
    pub target: Arc<dyn Target>,
}

/// Why a worker could not start or ended.
#[derive(Debug, Error)]
pub enum WorkerError {
    /// Bad options.
    #[error(transparent)]
    Options(#[from] WorkerOptionsError),
    /// No work folder.
    #[error(transparent)]
    WorkFolder(#[from] WorkFolderError),
    /// The lease keeper's thread could not be started.
    #[error("start the lease keeper")]
    Keeper(#[source] std::io::Error),
}

pub(crate) struct Session {
    pub(crate) options: WorkerOptions,
    pub(crate) rooms: Rooms,
    pub(crate) runtime: Runtime,
    pub(crate) caller: Caller,
    pub(crate) events: Arc<dyn EventSink>,
    pub(crate) executors: Executors,
    /// Where handlers run.
    pub(crate) handler_spawner: Arc<dyn Spawner>,
    pub(crate) folder: WorkFolder,
    pub(crate) held: Held,
    /// The epoch adopted; 0 while none is known.
    pub(crate) epoch: AtomicU64,
    lease_ms: AtomicU64,
    /// Follows a third of the lease: the time limit of requests to coordination.
    coordination_limit_ms: Arc<AtomicU64>,
    /// Slots not taken by a reservation or something that really executes, zombies too.
    pub(crate) free: AtomicU32,
    /// Heard by the one that asks for work.
    pub(crate) slot_freed: Notify,
    /// Wakes the keeper before its time.
    pub(crate) keeper_wanted: Notify,
    /// Windows believed to have entries.
    windows: Mutex<BTreeSet<Window>>,
    pub(crate) window_filled: Notify,
    pub(crate) draining: watch::Sender<bool>,
    finished: watch::Sender<bool>,
}

impl Session {
    pub(crate) fn send(&self) -> (Sent, At) {
        let sent = self.caller.send();
        let at = self.at(&sent);
        (sent, at)
    }

    /// The same request in the epoch that is known now.
    pub(crate) fn at(&self, sent: &Sent) -> At {
        At { origin: sent.origin, epoch: self.epoch.load(Ordering::Acquire) }
    }

    /// The lease length comes with every grant and renewal.
    pub(crate) fn set_lease_ms(&self, lease_ms: u64) {
        self.lease_ms.store(lease_ms, Ordering::Release);
        self.coordination_limit_ms.store((lease_ms / 3).max(1), Ordering::Release);
    }

    pub(crate) fn lease(&self) -> Duration {
        Duration::from_millis(self.lease_ms.load(Ordering::Acquire).max(1))
    }

    /// Until when a lease answered to a request sent at `sent` may be trusted: its length less a fifth.
    pub(crate) fn deadline(sent: Duration, lease_ms: u64) -> Duration {
        sent + Duration::from_millis(lease_ms - lease_ms / 5)
    }

    /// Takes no new work from now on; what runs gets notice.
    pub(crate) fn drain(&self) {
        self.draining.send_replace(true);
        for lease in self.held.leases() {
            lease.stop(crate::control::Stop::Drain);
        }
        self.keeper_wanted.notify_one();
        self.slot_freed.notify_one();
    }

    pub(crate) fn is_draining(&self) -> bool {
        *self.draining.borrow()
    }

    pub(crate) fn is_finished(&self) -> bool {
        *self.finished.borrow()
    }

    /// Returns when the worker holds nothing any more and takes nothing.
    pub(crate) async fn finished(&self) {
        // The sender lives as long as this does.
        drop(self.finished.subscribe().wait_for(|finished| *finished).await);
    }

    pub(crate) fn registration(&self) -> Registration {
        Registration {
            worker: self.options.incarnation,
            name: self.options.name.clone(),
            pid: std::process::id(),
            host: host_name(),
            slots: self.options.slots,
            queues: self.options.queues.clone(),
            kinds: self.kinds(),
            draining: self.is_draining(),
        }
    }

    fn kinds(&self) -> Vec<String> {
        let mut kinds: BTreeSet<String> = self.options.kinds.iter().cloned().collect();
        kinds.extend(self.executors.kinds());
        kinds.into_iter().collect()
    }

    pub(crate) fn windows(&self) -> Vec<Window> {
        self.windows.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }

    pub(crate) fn window_has_entries(&self, window: Window) {
        if self.windows.lock().unwrap_or_else(PoisonError::into_inner).insert(window) {
            self.window_filled.notify_one();
        }
    }

    /// The same for windows just asked, which may hold more; nobody is woken for it.
    pub(crate) fn windows_may_have_entries(&self, windows: Vec<Window>) {
        self.windows.lock().unwrap_or_else(PoisonError::into_inner).extend(windows);
    }

    pub(crate) fn windows_are_empty(&self, windows: &[Window]) {
        let mut known = self.windows.lock().unwrap_or_else(PoisonError::into_inner);
        for window in windows {
            known.remove(window);
        }
    }

    pub(crate) fn take_slot(&self) {
        self.free.fetch_sub(1, Ordering::AcqRel);
    }

    pub(crate) fn free_slot(&self) {
        self.free.fetch_add(1, Ordering::AcqRel);
        self.slot_freed.notify_one();
    }

    pub(crate) fn busy(&self) -> u32 {
        self.options.slots - self.free.load(Ordering::Acquire)
    }
}

fn host_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// A worker that can be run.
pub struct Worker {
    session: Arc<Session>,
    /// The keeper's own way to the first two rooms.
    keeper_rooms: Rooms,
}

/// What a worker is built from.
pub struct WorkerParts {
    /// Its options.
    pub options: WorkerOptions,
    /// The rooms, for claims and outcomes.
    pub rooms: Rooms,
    /// The rooms once more, over connections of their own, for the lease keeper.
    pub keeper_rooms: Rooms,
    /// Set to a third of the lease length whenever that is learned, for the coordination clients to read.
    pub coordination_limit_ms: Arc<AtomicU64>,
    /// Clock, chance, tasks.
    pub runtime: Runtime,
    /// Where its own events go.
    pub events: Arc<dyn EventSink>,
    /// What runs programs, where it serves them.
    pub programs: Option<Arc<dyn Executor>>,
    /// What runs jobs of other kinds.
    pub handlers: Vec<Arc<dyn Handler>>,
    /// Where handlers run: on threads of their own in production, since one that computes without a pause
    /// keeps its thread to itself. `None`: beside everything else.
    pub handler_spawner: Option<Arc<dyn Spawner>>,
}

impl Worker {
    /// Prepares a worker: checks options and takes its work folder.
    ///
    /// # Errors
    /// When the options are wrong or the folder cannot be had.
    #[doc(alias = "StartIncarnation")]
    pub fn new(parts: WorkerParts) -> Result<Self, WorkerError> {
        let mut options = parts.options;
        options.validate()?;
        if parts.programs.is_none() {
            options.kinds.retain(|kind| kind != JobSpec::EXEC);
        }
        let folder = WorkFolder::open(&options.work, options.incarnation)?;
        let session = Session {
            caller: Caller::new(options.incarnation.into()),
            free: AtomicU32::new(options.slots),
            executors: Executors::new(parts.programs, parts.handlers),
            handler_spawner: parts.handler_spawner.unwrap_or_else(|| Arc::clone(&parts.runtime.spawner)),
            options,
            rooms: parts.rooms,
            runtime: parts.runtime,
            events: parts.events,
            folder,
            held: Held::default(),
            epoch: AtomicU64::new(0),
            lease_ms: AtomicU64::new(15_000),
            coordination_limit_ms: parts.coordination_limit_ms,
            slot_freed: Notify::new(),
            keeper_wanted: Notify::new(),
            windows: Mutex::default(),
            window_filled: Notify::new(),
            draining: watch::channel(false).0,
            finished: watch::channel(false).0,
        };
        Ok(Self { session: Arc::new(session), keeper_rooms: parts.keeper_rooms })
    }

    /// Tells it to drain: no new claims; running jobs get notice and time to checkpoint.
    pub fn drain_handle(&self) -> impl Fn() + Send + Sync + 'static {
        let session = Arc::clone(&self.session);
        move || session.drain()
    }

    /// Turns true when it drains.
    #[must_use]
    pub fn draining(&self) -> watch::Receiver<bool> {
        self.session.draining.subscribe()
    }

    /// The lease keeper, to be run where handlers cannot starve it: on a thread and runtime of its own in
    /// production. It ends after [`Worker::run`] has.
    pub fn keeper(&self) -> impl Future<Output = ()> + Send + 'static {
        keeper::run(Arc::clone(&self.session), self.keeper_rooms.clone())
    }

    /// Takes and runs jobs until it is drained.
    pub async fn run(self) {
        self.session.record(Action::StartIncarnation, None, Detail::default(), Vec::new());
        reserve::run(&self.session).await;
        self.session.finished.send_replace(true);
        self.session.keeper_wanted.notify_one();
        self.session.folder.remove();
    }
}
