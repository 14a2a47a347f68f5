//! A campaign: faults of every kind for as long as one likes, while jobs arrive all the time.
//!
//! Promises: every job that was accepted is checked, its result byte for byte; after every fault all must be normal again
//! within [`LEASES`] lease lengths, and so must everything be over and nothing left at the end of every piece; the trace of
//! each piece is audited. The first thing that is not so ends the campaign with an error. Does not promise the same run for
//! the same seed: real processes keep their own time; faults and jobs come in the same order.

mod book;
mod jobs;
pub(crate) mod recovery;
mod report;

use std::collections::{BTreeMap, HashSet};
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use protocol::AttemptId;
use tokio::task::JoinHandle;

use crate::fleet::{Audited, Fault, Fleet, FleetOptions, Struck};
use crate::processes::resident_bytes;
use crate::seed::Seed;
use crate::wait::eventually;
use book::Book;
use recovery::{Recoveries, Watch};

/// So many lease lengths are given to every recovery, and to the end.
pub const LEASES: u32 = 12;
const LOOK: Duration = Duration::from_millis(50);
/// A trace is audited, and a new one begun, so often.
const PIECE: Duration = Duration::from_secs(600);

/// What kind of campaign.
#[derive(Debug, Clone)]
pub struct Options {
    /// The program `remora`.
    pub program: String,
    /// How long.
    pub time: Duration,
    /// Chance.
    pub seed: u64,
    /// Jobs that arrive each minute.
    pub jobs_per_minute: u32,
    /// The installation.
    pub fleet: FleetOptions,
    /// Only these faults.
    pub only: Option<Vec<Fault>>,
    /// Hears how it goes.
    pub tell: fn(&str),
}

/// What it came to.
pub struct Outcome {
    options: Options,
    took: Duration,
    faults: BTreeMap<String, u32>,
    left_out: Vec<String>,
    recoveries: Recoveries,
    audited: Audited,
    pieces: u32,
    book: Book,
    restarts: u32,
    largest_bytes: BTreeMap<&'static str, u64>,
}

struct Campaign {
    fleet: Fleet,
    chance: Seed,
    faults: Vec<Fault>,
    began: Instant,
    out: Outcome,
}

/// Tasks that end with the value.
struct Tasks(Vec<JoinHandle<()>>);

impl Drop for Tasks {
    fn drop(&mut self) {
        self.0.iter().for_each(JoinHandle::abort);
    }
}

/// Runs one; tells of each recovery.
///
/// # Errors
/// With the first thing that was not as it must be.
pub async fn run(options: Options) -> anyhow::Result<Outcome> {
    let mut fleet = Fleet::start(&options.program, options.fleet).await?;
    let mut left_out = Vec::new();
    let mut faults = options.only.clone().unwrap_or_else(Fault::all);
    for (worker, fault, given) in
        [(0, Fault::DiskFull, fleet.give_small_disk(0)), (1, Fault::ClockSet, fleet.give_clock(1))]
    {
        if let Err(error) = given {
            faults.retain(|one| *one != fault);
            left_out.push(format!("{} (worker w{worker}): {error:#}", fault.name()));
        }
    }
    ensure!(!faults.is_empty(), "no fault is left to strike with");
    let out = Outcome {
        took: Duration::ZERO,
        faults: BTreeMap::new(),
        left_out,
        recoveries: Recoveries::default(),
        audited: Audited::default(),
        pieces: 0,
        book: Book::new(fleet.reader()),
        restarts: 0,
        largest_bytes: BTreeMap::new(),
        options,
    };
    let chance = Seed::of(out.options.seed);
    let mut campaign = Campaign { fleet, chance, faults, began: Instant::now(), out };
    let ran = campaign.run().await;
    let Campaign { fleet, out, .. } = campaign;
    match ran {
        Ok(()) => Ok(out),
        Err(error) => Err(told(fleet, error, &out)),
    }
}

/// Everything that helps to find the cause.
fn told(fleet: Fleet, error: anyhow::Error, out: &Outcome) -> anyhow::Error {
    let log = fleet.log();
    let lines: Vec<&str> = log.lines().collect();
    let last = lines[lines.len().saturating_sub(80)..].join("\n");
    let trace = match fleet.end() {
        Ok(kept) => format!("what was recorded is explained, and kept in {}", kept.display()),
        Err(error) => format!("{error:#}"),
    };
    error.context(format!("{trace}\nthe last lines of all processes:\n{last}\n{}", out.in_short()))
}

impl Campaign {
    async fn run(&mut self) -> anyhow::Result<()> {
        let until = self.began + self.out.options.time;
        while Instant::now() < until {
            let left = until.saturating_duration_since(Instant::now());
            // The last piece is not a scrap of one.
            let piece = if left < PIECE * 3 / 2 { left } else { PIECE };
            self.piece(Instant::now() + piece).await?;
            self.out.took = self.began.elapsed();
        }
        Ok(())
    }

    /// Faults until a moment, then calm.
    async fn piece(&mut self, until: Instant) -> anyhow::Result<()> {
        let every = Duration::from_secs(60) / self.out.options.jobs_per_minute.max(1);
        let book = self.out.book.clone();
        let first = book.with(|pages| pages.submitted);
        let jobs = Seed::of(self.out.options.seed.wrapping_add(first + 1));
        let mut tasks = Tasks(vec![
            tokio::spawn(book.clone().submit_all(jobs, every, first)),
            tokio::spawn(book.clone().check_all()),
        ]);
        while Instant::now() < until {
            let faults = self.next_faults();
            self.suffer(&faults).await.with_context(|| names(&faults))?;
            self.stop_when_wrong()?;
            self.out.took = self.began.elapsed();
            let pause = Duration::from_millis(self.chance.below(1_500));
            tokio::time::sleep(pause).await;
            self.measure();
            (self.out.options.tell)(&format!("{}; {}", self.out.in_short(), names(&faults)));
        }
        tasks.0.remove(0).abort();
        self.calm().await?;
        drop(tasks);
        self.stop_when_wrong()?;
        self.out.audited += self.fleet.audit_and_go_on().await?;
        self.out.pieces += 1;
        Ok(())
    }

    fn stop_when_wrong(&self) -> anyhow::Result<()> {
        let wrong = self.out.book.with(|pages| pages.wrong.clone());
        ensure!(wrong.is_empty(), "wrong: {wrong:#?}");
        Ok(())
    }

    /// Mostly one, sometimes two or three at once; never two of the same store, which would only be another one of one.
    fn next_faults(&mut self) -> Vec<Fault> {
        let count = [1, 1, 1, 1, 1, 2, 2, 3][usize::try_from(self.chance.below(8)).unwrap_or_default()];
        let mut faults: Vec<Fault> = Vec::new();
        for _ in 0..count {
            let picked = self.chance.pick(&self.faults).copied();
            faults.extend(picked.filter(|one| faults.iter().all(|other| one.goes_with(*other))));
        }
        faults
    }

    /// Strikes, waits until all is normal again.
    async fn suffer(&mut self, faults: &[Fault]) -> anyhow::Result<()> {
        let lease = self.fleet.lease();
        let known = self.fleet.look(None).await.running.unwrap_or_else(HashSet::<AttemptId>::new);
        let mut watch = Watch::begin(known);
        let mut bad: Vec<(Instant, Struck)> = Vec::new();
        for fault in faults {
            let struck = self.fleet.strike(*fault, &mut self.chance).await?;
            *self.out.faults.entry(fault.name()).or_default() += 1;
            let lasts = lease / 2 + lease * u32::try_from(self.chance.below(16)).unwrap_or_default() / 10;
            bad.extend(struck.map(|struck| {
                let lasts = if struck.is_a_moment() { Duration::ZERO } else { lasts };
                (Instant::now() + lasts, struck)
            }));
        }
        loop {
            self.out.restarts += self.fleet.revive()?;
            bad.retain(|(until, struck)| *until > Instant::now() || self.fleet.mend(struck).is_err());
            if bad.is_empty() {
                watch.fault_ended();
            }
            if let Some(recovered) = watch.look(&mut self.fleet).await {
                self.out.recoveries.note(faults, recovered);
                return Ok(());
            }
            if watch.since_end() > lease * LEASES {
                bail!("not normal {LEASES} lease lengths after the fault: {:#?}", watch.wrong);
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    /// Nothing is struck and nothing arrives: everything ends, and nothing is left.
    async fn calm(&mut self) -> anyhow::Result<()> {
        let limit = self.fleet.lease() * LEASES;
        let began = Instant::now();
        while !self.out.book.open().is_empty() {
            self.out.restarts += self.fleet.revive()?;
            if began.elapsed() > limit {
                bail!("after {LEASES} lease lengths of calm: {}", self.stuck().await);
            }
            tokio::time::sleep(LOOK).await;
        }
        let (fleet, book) = (&self.fleet, &self.out.book);
        let published = book.with(|pages| pages.published.clone());
        let empty = eventually("nothing is left", limit, || async {
            Ok(fleet.leftovers_beside(&published).await?.is_empty().then_some(()))
        });
        if empty.await.is_err() {
            bail!("left over: {:#?}", fleet.leftovers_beside(&published).await?);
        }
        Ok(())
    }

    async fn stuck(&self) -> String {
        let mut told = Vec::new();
        for job in self.out.book.open().into_iter().take(5) {
            told.push(format!("{:?}", self.fleet.job(job).await));
        }
        told.join("\n")
    }

    /// The tool's own memory and that of the largest process of each kind.
    fn measure(&mut self) {
        let mut sizes = vec![("this tool", resident_bytes(std::process::id()))];
        sizes.extend(self.fleet.sizes());
        for (what, bytes) in sizes {
            let largest = self.out.largest_bytes.entry(what).or_default();
            *largest = bytes.max(*largest);
        }
    }
}

fn names(faults: &[Fault]) -> String {
    faults.iter().map(|fault| fault.name()).collect::<Vec<_>>().join(" + ")
}
