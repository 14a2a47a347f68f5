//! Virtual time and the tasks on it: one thread, and chance decides which runnable task goes next.
//!
//! Promises: the same seed gives the same order of everything; time moves only when nothing can run, to the next moment
//! that somebody waits for; the tasks of a frozen domain wait, and those of a dead one are gone, dropped where they stood.
//! Does not run threads: work that would block is done where it stands.

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use runtime::BoxFuture;

/// What lives and dies together: a process. 0 is the world itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Domain(u32);

/// The world: the stores, the network, whoever plays fate. It never freezes and never dies.
pub(crate) const WORLD: Domain = Domain(0);

/// Polls after which a run counts as one that never ends.
const MOST_POLLS: u64 = 20_000_000;

type TaskId = u64;

struct Task {
    domain: Domain,
    /// Absent while it is polled.
    future: Option<BoxFuture<()>>,
    waker: Waker,
}

struct Inside {
    now: Duration,
    next: u64,
    domains: u32,
    tasks: BTreeMap<TaskId, Task>,
    timers: BTreeMap<(Duration, u64), Waker>,
    frozen: BTreeSet<Domain>,
    dead: BTreeSet<Domain>,
    /// Runnable tasks of frozen domains.
    parked: BTreeSet<TaskId>,
    chance: StdRng,
    polls: u64,
}

/// See the module.
pub(crate) struct Core {
    inside: Mutex<Inside>,
    ready: Arc<Ready>,
}

#[derive(Default)]
struct Ready(Mutex<BTreeSet<TaskId>>);

impl Ready {
    fn lock(&self) -> MutexGuard<'_, BTreeSet<TaskId>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct TaskWaker {
    task: TaskId,
    ready: Arc<Ready>,
}

impl Wake for TaskWaker {
    fn wake(self: Arc<Self>) {
        self.ready.lock().insert(self.task);
    }
}

/// Why a run ended before its main task did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Halt {
    /// Nothing can ever happen again.
    Silence,
    /// It goes on without end at one place.
    Endless,
}

impl Core {
    /// An empty world at time 0.
    pub(crate) fn new(seed: u64) -> Arc<Self> {
        let inside = Inside {
            now: Duration::ZERO,
            next: 0,
            domains: 0,
            tasks: BTreeMap::new(),
            timers: BTreeMap::new(),
            frozen: BTreeSet::new(),
            dead: BTreeSet::new(),
            parked: BTreeSet::new(),
            chance: StdRng::seed_from_u64(seed),
            polls: 0,
        };
        Arc::new(Self { inside: Mutex::new(inside), ready: Arc::default() })
    }

    fn lock(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The world's time.
    pub(crate) fn now(&self) -> Duration {
        self.lock().now
    }

    /// A new process.
    pub(crate) fn new_domain(&self) -> Domain {
        let mut inside = self.lock();
        inside.domains += 1;
        Domain(inside.domains)
    }

    /// Starts a task. One of a dead domain is dropped unseen.
    pub(crate) fn spawn(&self, domain: Domain, future: BoxFuture<()>) {
        let mut inside = self.lock();
        if inside.dead.contains(&domain) {
            drop(inside);
            drop(future);
            return;
        }
        inside.next += 1;
        let task = inside.next;
        let waker = Waker::from(Arc::new(TaskWaker { task, ready: Arc::clone(&self.ready) }));
        inside.tasks.insert(task, Task { domain, future: Some(future), waker });
        drop(inside);
        self.ready.lock().insert(task);
    }

    /// Stops a domain where it stands.
    pub(crate) fn freeze(&self, domain: Domain) {
        self.lock().frozen.insert(domain);
    }

    /// Lets a frozen domain go on.
    pub(crate) fn thaw(&self, domain: Domain) {
        let mut inside = self.lock();
        if inside.frozen.remove(&domain) {
            self.ready.lock().append(&mut inside.parked);
        }
    }

    /// Ends a domain: its tasks are dropped wherever they wait.
    pub(crate) fn kill(&self, domain: Domain) {
        let mut inside = self.lock();
        inside.dead.insert(domain);
        inside.frozen.remove(&domain);
        let gone = inside.tasks.extract_if(.., |_, task| task.domain == domain).collect::<Vec<_>>();
        drop(inside);
        drop(gone);
    }

    /// Ends everything.
    pub(crate) fn end(&self) {
        let mut inside = self.lock();
        let gone = std::mem::take(&mut inside.tasks);
        inside.timers.clear();
        drop(inside);
        drop(gone);
    }

    /// Waits for a moment so far ahead.
    pub(crate) fn sleep(self: &Arc<Self>, duration: Duration) -> Sleep {
        let deadline = self.now().saturating_add(duration);
        Sleep { core: Arc::clone(self), deadline, key: None }
    }

    /// Runs until this task of the world has ended.
    pub(crate) fn run(&self, main: BoxFuture<()>) -> Result<(), Halt> {
        let done = Arc::new(Mutex::new(false));
        let told = Arc::clone(&done);
        self.spawn(
            WORLD,
            Box::pin(async move {
                main.await;
                *told.lock().unwrap_or_else(PoisonError::into_inner) = true;
            }),
        );
        while !*done.lock().unwrap_or_else(PoisonError::into_inner) {
            if let Some(task) = self.choose() {
                self.poll(task);
            } else if !self.advance() {
                return Err(Halt::Silence);
            }
            if self.lock().polls > MOST_POLLS {
                return Err(Halt::Endless);
            }
        }
        Ok(())
    }

    fn choose(&self) -> Option<TaskId> {
        let mut inside = self.lock();
        let mut ready = self.ready.lock();
        loop {
            if ready.is_empty() {
                return None;
            }
            let place = if ready.len() == 1 { 0 } else { inside.chance.random_range(0..ready.len()) };
            let task = ready.iter().nth(place).copied()?;
            ready.remove(&task);
            match inside.tasks.get(&task).map(|task| task.domain) {
                None => {}
                Some(domain) if inside.frozen.contains(&domain) => {
                    inside.parked.insert(task);
                }
                Some(_) => return Some(task),
            }
        }
    }

    fn poll(&self, id: TaskId) {
        let mut inside = self.lock();
        inside.polls += 1;
        let Some(task) = inside.tasks.get_mut(&id) else { return };
        let waker = task.waker.clone();
        let Some(mut future) = task.future.take() else { return };
        drop(inside);
        let ended = future.as_mut().poll(&mut Context::from_waker(&waker)).is_ready();
        let mut inside = self.lock();
        let gone = match inside.tasks.get_mut(&id) {
            Some(task) if !ended => {
                task.future = Some(future);
                None
            }
            _ => Some((inside.tasks.remove(&id), future)),
        };
        drop(inside);
        drop(gone);
    }

    /// To the next moment that somebody waits for.
    fn advance(&self) -> bool {
        let mut inside = self.lock();
        let Some(((at, _), waker)) = inside.timers.pop_first() else { return false };
        inside.now = inside.now.max(at);
        drop(inside);
        waker.wake();
        true
    }
}

/// Waiting for a moment.
pub(crate) struct Sleep {
    core: Arc<Core>,
    deadline: Duration,
    key: Option<(Duration, u64)>,
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let core = Arc::clone(&self.core);
        let mut inside = core.lock();
        if inside.now >= self.deadline {
            return Poll::Ready(());
        }
        let key = self.key.unwrap_or_else(|| {
            inside.next += 1;
            (self.deadline, inside.next)
        });
        inside.timers.insert(key, context.waker().clone());
        self.key = Some(key);
        Poll::Pending
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        if let Some(key) = self.key {
            let gone = self.core.lock().timers.remove(&key);
            drop(gone);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn time_jumps_to_the_next_moment_and_a_frozen_domain_goes_on_later() {
        let core = Core::new(1);
        let (one, two) = (core.new_domain(), core.new_domain());
        let heard = Arc::new(Mutex::new(Vec::new()));
        for (name, domain) in [("frozen", one), ("free", two)] {
            let (inner, heard) = (Arc::clone(&core), Arc::clone(&heard));
            core.spawn(
                domain,
                Box::pin(async move {
                    inner.sleep(seconds(1)).await;
                    heard.lock().unwrap().push((name, inner.now()));
                }),
            );
        }
        let inner = Arc::clone(&core);
        let main = async move {
            inner.sleep(seconds(1) / 2).await;
            inner.freeze(one);
            inner.sleep(seconds(9) / 2).await;
            inner.thaw(one);
            inner.sleep(seconds(1)).await;
        };
        core.run(Box::pin(main)).unwrap();
        assert_eq!(*heard.lock().unwrap(), [("free", seconds(1)), ("frozen", seconds(5))]);
    }

    #[test]
    fn a_killed_domain_drops_its_tasks_where_they_stand_and_starts_no_more() {
        struct Tell(Arc<Mutex<u32>>);
        impl Drop for Tell {
            fn drop(&mut self) {
                *self.0.lock().unwrap() += 1;
            }
        }
        let core = Core::new(1);
        let domain = core.new_domain();
        let drops = Arc::new(Mutex::new(0));
        let task = |seconds_: u64| {
            let (inner, tell) = (Arc::clone(&core), Tell(Arc::clone(&drops)));
            Box::pin(async move {
                let _tell = tell;
                inner.sleep(seconds(seconds_)).await;
                panic!("it was killed before");
            })
        };
        core.spawn(domain, task(3));
        let (inner, late) = (Arc::clone(&core), task(0));
        let main = async move {
            inner.sleep(seconds(1)).await;
            inner.kill(domain);
            inner.spawn(domain, late);
            inner.sleep(seconds(5)).await;
        };
        core.run(Box::pin(main)).unwrap();
        assert_eq!(*drops.lock().unwrap(), 2);
    }

    #[test]
    fn a_world_in_which_nothing_can_happen_is_told_from_one_that_ended() {
        let core = Core::new(1);
        assert_eq!(core.run(Box::pin(std::future::pending())), Err(Halt::Silence));
    }
}
