//! The dispatcher: projects the outbox into coordination's windows (protocol rule 6).
//!
//! When: on a nudge, when a window may have room, and every second; a slow pass from the start of every
//! window brings back late commits and anything lost. Not its job: deciding who runs what.
//! Drives `DispatchRead` and `Enqueue`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use coordination::{Enqueue, Registration};
use durable::{DispatchRead, Dispatchable};
use protocol::{Fault, Guard, JobId, Judged, Position, Timestamp, Window, limit};
use tokio::sync::Notify;

use crate::driver::{Agent, Report};
use crate::ground::{Asking, Ground};

/// A fast pass starts so far below its mark, for rows that were committed late.
const BELOW_MARK_MS: i64 = 5_000;
/// A fast pass offers an id at most once in this time.
const ONCE_IN: Duration = Duration::from_secs(2);
/// The shortest time between two slow passes; else twenty times a pass's duration.
const SLOW_PERIOD: Duration = Duration::from_secs(5);
const PAGE: usize = 500;
/// The shortest time between two fast passes: named jobs need none, and a pass reads again what was committed
/// lately. Too short: the store is read for nothing; too long: a full window runs empty.
const FAST_PERIOD: Duration = Duration::from_millis(100);

#[derive(Default)]
struct Memory {
    epoch: u64,
    marks: BTreeMap<Window, Position>,
    offered: BTreeMap<JobId, Duration>,
    next_fast: Duration,
    next_slow: Duration,
    /// Who served what at the last fast pass.
    served: Vec<Registration>,
}

/// Which passes are due.
#[derive(Clone, Copy)]
struct Due {
    fast: bool,
    slow: bool,
}

/// What reading a window came to.
#[derive(Default)]
struct WindowRead {
    taken: u64,
    /// The last position whose page was offered whole.
    reached: Option<Position>,
    /// Whether there may be more to do soon.
    more: bool,
}

/// See the module.
pub struct Dispatcher {
    ground: Arc<Ground>,
    memory: Mutex<Memory>,
}

/// What came of offering some rows.
#[derive(Default)]
struct Offered {
    taken: u64,
    full: BTreeSet<Window>,
}

impl Dispatcher {
    /// A dispatcher on this ground.
    #[must_use]
    pub fn new(ground: Arc<Ground>) -> Self {
        Self { ground, memory: Mutex::default() }
    }

    fn with_memory<T>(&self, act: impl FnOnce(&mut Memory) -> T) -> T {
        act(&mut self.memory.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn now(&self) -> Duration {
        self.ground.runtime.clock.boottime()
    }

    /// Rows not offered lately; remembers them.
    fn fresh(&self, rows: Vec<Dispatchable>) -> Vec<Dispatchable> {
        let now = self.now();
        self.with_memory(|memory| {
            memory.offered.retain(|_, at| now.saturating_sub(*at) < ONCE_IN);
            rows.into_iter().filter(|row| memory.offered.insert(row.job, now).is_none()).collect()
        })
    }

    async fn enqueue(&self, rows: Vec<Dispatchable>) -> Result<Offered, Fault> {
        let mut offered = Offered::default();
        for page in rows.chunks(PAGE) {
            let Some(Asking { sent, at, seen }) = self.ground.send_at() else { return Ok(offered) };
            let batch: Vec<Enqueue> = page.iter().map(entry).collect();
            let answers = sent.of(self.ground.rooms.coordination.enqueue(&at, &batch)).await?;
            if self.ground.check_stale(seen, &answers) {
                return Ok(offered);
            }
            for (row, answer) in page.iter().zip(&answers) {
                match answer.step.refused() {
                    None => offered.taken += 1,
                    Some(Guard::WindowFull) => {
                        offered.full.insert(row.window.clone());
                        self.with_memory(|memory| memory.offered.remove(&row.job));
                    }
                    Some(_) => {}
                }
            }
        }
        Ok(offered)
    }

    /// Named jobs: those of nudges, hand-backs and retries.
    async fn named_pass(&self, jobs: &[JobId], served: &[Registration]) -> Result<u64, Fault> {
        let mut taken = 0;
        for page in jobs.chunks(PAGE) {
            let rows = self.ground.rooms.durable.dispatch_read_jobs(page).await?;
            let rows = rows.into_iter().filter(|row| is_served(served, &row.window)).collect();
            taken += self.enqueue(rows).await?.taken;
        }
        Ok(taken)
    }

    /// One window from near its mark on; whether there may be more to do soon.
    async fn fast_pass(&self, window: &Window) -> Result<(u64, bool), Fault> {
        let mark = self.with_memory(|memory| memory.marks.get(window).copied().unwrap_or_default());
        let from = Position { due: Timestamp(mark.due.0.saturating_sub(BELOW_MARK_MS)), sequence: 0 };
        let read = self.read_window(window, from, |rows| self.fresh(rows)).await?;
        if let Some(reached) = read.reached {
            self.with_memory(|memory| {
                let mark = memory.marks.entry(window.clone()).or_default();
                *mark = (*mark).max(reached);
            });
        }
        Ok((read.taken, read.more))
    }

    /// One window from its start: brings back what was committed late, and anything lost.
    async fn slow_pass(&self, window: &Window) -> Result<u64, Fault> {
        let start = Position { due: Timestamp::MIN, sequence: 0 };
        Ok(self.read_window(window, start, |rows| rows).await?.taken)
    }

    /// Reads a window page by page, no more rows than it holds, and offers those that `choose` leaves.
    async fn read_window(
        &self,
        window: &Window,
        mut from: Position,
        choose: impl Fn(Vec<Dispatchable>) -> Vec<Dispatchable> + Send,
    ) -> Result<WindowRead, Fault> {
        let mut read = WindowRead::default();
        for _ in 0..limit::WINDOW_ENTRIES.div_ceil(PAGE) {
            let page = DispatchRead { window: window.clone(), from, limit: PAGE };
            let rows = self.ground.rooms.durable.dispatch_read(&page).await?;
            let Some(last) = rows.last().map(|row| row.position) else { return Ok(read) };
            let whole = rows.len() == PAGE;
            let offered = self.enqueue(choose(rows)).await?;
            read.taken += offered.taken;
            if offered.full.contains(window) {
                read.more = true;
                return Ok(read);
            }
            read.reached = Some(last);
            from = Position { due: last.due, sequence: last.sequence + 1 };
            if !whole {
                return Ok(read);
            }
        }
        read.more = true;
        Ok(read)
    }

    /// Whether a fast and a slow pass are due; a change of who serves what makes the fast one so.
    fn due(&self, served: &[Registration]) -> Due {
        let now = self.now();
        self.with_memory(|memory| {
            let others = memory.served != served;
            let due = Due { fast: others || memory.next_fast <= now, slow: memory.next_slow <= now };
            if due.fast {
                memory.served = served.to_vec();
            }
            due
        })
    }

    /// All windows that somebody serves; whether there may be more to do soon.
    async fn window_passes(&self, due: Due, served: &[Registration]) -> Result<(u64, bool), Fault> {
        let began = self.now();
        let (mut all, mut more_to_do) = (0, false);
        for window in self.ground.rooms.durable.waiting_windows().await? {
            if !is_served(served, &window) {
                continue;
            }
            if due.slow {
                all += self.slow_pass(&window).await?;
            }
            let (taken, more) = self.fast_pass(&window).await?;
            all += taken;
            more_to_do |= more;
        }
        let took = self.now().saturating_sub(began);
        self.with_memory(|memory| {
            memory.next_fast = began + FAST_PERIOD.max(took * 5);
            if due.slow {
                memory.next_slow = began + SLOW_PERIOD.max(took * 20);
            }
        });
        Ok((all, more_to_do))
    }

    /// A new epoch begins with empty windows: marks and memory of the old one mean nothing.
    fn forget_older_epochs(&self) {
        let epoch = self.ground.epoch();
        self.with_memory(|memory| {
            if memory.epoch != epoch {
                *memory = Memory { epoch, ..Memory::default() };
            }
        });
    }
}

fn entry(row: &Dispatchable) -> Enqueue {
    Enqueue {
        job: row.job,
        window: row.window.clone(),
        position: row.position,
        checkpoint_revision: row.checkpoint_revision,
        judged: vec![Judged::durable(row.mark)],
    }
}

fn is_served(registrations: &[Registration], window: &Window) -> bool {
    registrations.iter().any(|registration| !registration.draining && registration.serves(window))
}

#[async_trait]
impl Agent for Dispatcher {
    fn name(&self) -> &'static str {
        "dispatcher"
    }

    fn period(&self) -> Duration {
        Duration::from_secs(1)
    }

    fn bell(&self) -> Arc<Notify> {
        Arc::clone(&self.ground.wake.dispatcher)
    }

    #[doc(alias = "DispatchRead")]
    #[doc(alias = "Enqueue")]
    async fn pass(&self) -> Result<Report, Fault> {
        if self.ground.epoch() == 0 {
            return Ok(Report::default());
        }
        self.forget_older_epochs();
        let mut report = Report::default();
        let workers = self.ground.rooms.coordination.workers().await?;
        let served: Vec<Registration> = workers.into_iter().map(|worker| worker.registration).collect();
        let named = self.ground.take_offered();
        if !named.is_empty() {
            report.taken += self.named_pass(&named, &served).await?;
        }
        let due = self.due(&served);
        if !due.fast && !due.slow {
            // Hints were served by name; the pass that finds what hints missed comes a little later.
            report.again = Some(FAST_PERIOD);
            return Ok(report);
        }
        let (taken, more) = self.window_passes(due, &served).await?;
        report.taken += taken;
        report.again =
            if more { Some(FAST_PERIOD) } else { self.ground.until_next_due(self.period()).await? };
        Ok(report)
    }
}
