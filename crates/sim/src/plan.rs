//! What a seed stands for: the jobs, the noise of the network, and what fate does when.
//!
//! Promises: each job and each stroke of fate depends on the seed and its own number only, so that a story can be told
//! with fewer of them and stays the same story.

use std::fmt;
use std::time::Duration;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use crate::jobs::JobPlan;
use crate::link::{Noise, Service};
use crate::record::Point;

/// How long fate acts; from then on everything works.
pub(crate) const TROUBLE: Duration = Duration::from_secs(30);
/// Strokes of fate in one run, at most.
const MOST_STROKES: u64 = 7;

/// Who may be struck.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Who {
    /// A worker's machine.
    Worker(usize),
    /// A replica of the agents.
    Agents(usize),
}

/// A stroke of fate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Stroke {
    /// A process dies and starts again later.
    Crash { who: Who, down: Duration },
    /// A process stops for a while; its clock may stop with it.
    Freeze { who: Who, long: Duration, clock_stops: bool },
    /// A worker stops for a while when it next reaches a point of an attempt's life.
    FreezeAt { worker: usize, point: Point, long: Duration },
    /// What a worker says and hears stays on its way for a while when it next reaches a point of an attempt's life.
    HoldAt { worker: usize, point: Point, long: Duration },
    /// Coordination is lost while a worker cannot reach it.
    LoseUnseen { worker: usize, long: Duration },
    /// A link is down for a while.
    Cut { who: Who, service: Service, long: Duration, closed: bool },
    /// All links of a process are slow for a while.
    Slow { who: Who, long: Duration, ms: u64 },
    /// Coordination is lost, and again so long after that, mostly while it is being repaired.
    Lose { again: Option<Duration> },
    /// Coordination becomes what it was so long ago.
    Restore { age: Duration },
    /// A worker is told to drain; another start follows.
    Drain { worker: usize },
    /// A machine's wall clock is set.
    StepWall { worker: usize, ms: i64 },
    /// The durable store's clock is set.
    StepDurable { ms: i64 },
    /// Coordination's clock jumps, ahead or far back.
    StepCoordination { ms: i64 },
}

/// What may be changed about a run beside its seed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Jobs.
    pub jobs: usize,
    /// Workers.
    pub workers: usize,
    /// The strokes of fate to keep, by number; all when `None`.
    pub keep: Option<Vec<usize>>,
    /// Whether the network loses and delays nothing by itself.
    pub quiet: bool,
    /// A fault of the rooms that is put in on purpose.
    pub planted: Option<crate::Planted>,
}

impl Default for Options {
    fn default() -> Self {
        Self { jobs: 5, workers: 3, keep: None, quiet: false, planted: None }
    }
}

/// A run, planned.
pub(crate) struct Plan {
    pub(crate) jobs: Vec<JobPlan>,
    pub(crate) strokes: Vec<(usize, Duration, Stroke)>,
    pub(crate) noise: Noise,
    pub(crate) global_limit: u32,
    pub(crate) lease_ms: u64,
    pub(crate) drift_ppm: Vec<i32>,
    pub(crate) slots: Vec<u32>,
}

/// A source of chance of its own for each purpose.
pub(crate) fn chance(seed: u64, purpose: u64) -> StdRng {
    StdRng::seed_from_u64(
        seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ purpose.wrapping_mul(0xbf58_476d_1ce4_e5b9),
    )
}

fn millis(chance: &mut StdRng, from: u64, to: u64) -> Duration {
    Duration::from_millis(chance.random_range(from..to))
}

impl Plan {
    pub(crate) fn new(seed: u64, options: &Options) -> Self {
        let mut own = chance(seed, 1);
        let strokes = own.random_range(0..=MOST_STROKES);
        let lease_ms = own.random_range(2_000..5_000);
        let global_limit = own.random_range(1..=4);
        let noise = noise(&mut own, options.quiet);
        let kept = |number: &usize| options.keep.as_ref().is_none_or(|keep| keep.contains(number));
        let strokes: Vec<(usize, Duration, Stroke)> = (0..usize::try_from(strokes).unwrap_or(0))
            .filter(kept)
            .map(|number| {
                let mut own = chance(seed, 1_000 + u64::try_from(number).unwrap_or(0));
                let at = millis(&mut own, 0, 25_000);
                let stroke = stroke(&mut own, options.workers.max(1), lease_ms);
                // There must be jobs while it waits.
                let waits = matches!(stroke, Stroke::FreezeAt { .. } | Stroke::HoldAt { .. });
                (number, if waits { at / 2 } else { at }, stroke)
            })
            .collect();
        let job =
            |number| JobPlan::new(number, &mut chance(seed, 2_000 + u64::try_from(number).unwrap_or(0)));
        let mut machines = chance(seed, 2);
        let drift_ppm = (0..options.workers).map(|_| machines.random_range(-10_000..=10_000)).collect();
        let slots = (0..options.workers).map(|_| machines.random_range(1..=2)).collect();
        Self {
            jobs: (0..options.jobs).map(job).collect(),
            strokes,
            noise,
            global_limit,
            lease_ms,
            drift_ppm,
            slots,
        }
    }

    /// Whether two attempts of a job may run at once for a while: a frozen process does not know that it was replaced,
    /// and a store whose own time was moved ends leases early.
    pub(crate) fn may_overlap(&self) -> bool {
        self.strokes
            .iter()
            .any(|(_, _, stroke)| matches!(stroke, Stroke::Restore { .. } | Stroke::StepCoordination { .. }))
    }
}

fn noise(own: &mut StdRng, quiet: bool) -> Noise {
    let mut often = |most: u32| match own.random_range(0..3) {
        0 => 0,
        1 => most / 5,
        _ => own.random_range(0..=most),
    };
    let noise = Noise {
        lost_request: often(60),
        lost_reply: often(60),
        doubled: often(100),
        late: often(60),
        lost_wake: often(500),
    };
    if quiet { Noise::default() } else { noise }
}

fn who(own: &mut StdRng, workers: usize) -> Who {
    if own.random_range(0..4) == 0 {
        Who::Agents(own.random_range(0..2))
    } else {
        Who::Worker(own.random_range(0..workers))
    }
}

fn stroke(own: &mut StdRng, workers: usize, lease_ms: u64) -> Stroke {
    let who = who(own, workers);
    let worker = own.random_range(0..workers);
    match own.random_range(0..40) {
        0..=3 => Stroke::Crash { who, down: millis(own, 0, 6_000) },
        4..=7 => {
            Stroke::Freeze { who, long: millis(own, 100, 15_000), clock_stops: own.random_range(0..4) == 0 }
        }
        8..=12 => {
            let service = Service::ALL[own.random_range(0..Service::ALL.len())];
            Stroke::Cut { who, service, long: millis(own, 100, 12_000), closed: own.random_range(0..2) == 0 }
        }
        13 => Stroke::Slow { who, long: millis(own, 1_000, 15_000), ms: own.random_range(50..600) },
        14..=16 => {
            let most = [10, 100, 1_500][own.random_range(0..3)];
            let again = millis(own, 0, most);
            Stroke::Lose { again: (own.random_range(0..2) == 0).then_some(again) }
        }
        17 => Stroke::Restore { age: millis(own, 100, 5_000) },
        18 => Stroke::Drain { worker },
        19 => Stroke::StepWall { worker, ms: own.random_range(-3_600_000..3_600_000) },
        20..=30 => {
            let points =
                [Point::Reserved, Point::Claimed, Point::Sealed, Point::Sealed, Point::Done, Point::Done];
            let point = points[own.random_range(0..points.len())];
            // Around the time at which the next attempt runs.
            Stroke::FreezeAt { worker, point, long: millis(own, lease_ms, lease_ms * 2) }
        }
        31 => Stroke::LoseUnseen { worker, long: millis(own, 300, 4_000) },
        32 => Stroke::StepDurable { ms: own.random_range(-5_000..5_000) },
        33..=38 => {
            let points = [Point::Storing, Point::Sending, Point::Sending];
            let point = points[own.random_range(0..points.len())];
            // The next attempt runs when the lease has ended, for a moment only where all was done but to say so.
            Stroke::HoldAt { worker, point, long: millis(own, lease_ms * 4 / 5, lease_ms * 8 / 5) }
        }
        _ => Stroke::StepCoordination { ms: own.random_range(-20_000..8_000) },
    }
}

impl fmt::Display for Who {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Worker(number) => write!(f, "worker {number}"),
            Self::Agents(number) => write!(f, "agents {number}"),
        }
    }
}

impl fmt::Display for Stroke {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Crash { who, down } => write!(f, "{who} is killed, back in {down:?}"),
            Self::Freeze { who, long, clock_stops } => {
                let clock = if *clock_stops { ", its clock too" } else { "" };
                write!(f, "{who} stops for {long:?}{clock}")
            }
            Self::FreezeAt { worker, point, long } => {
                write!(f, "worker {worker} will stop for {long:?} at the point {point:?}")
            }
            Self::HoldAt { worker, point, long } => {
                write!(f, "what worker {worker} says will be {long:?} on its way from the point {point:?} on")
            }
            Self::LoseUnseen { worker, long } => {
                write!(f, "coordination is lost, and worker {worker} cannot reach it for {long:?}")
            }
            Self::Cut { who, service, long, closed } => {
                let how = if *closed { "refused" } else { "swallowed" };
                write!(f, "{who} cannot reach {} for {long:?} ({how})", service.name())
            }
            Self::Slow { who, long, ms } => write!(f, "{who} is {ms} ms away for {long:?}"),
            Self::Lose { again: None } => f.write_str("coordination is lost"),
            Self::Lose { again: Some(after) } => write!(f, "coordination is lost, and again {after:?} later"),
            Self::Restore { age } => write!(f, "coordination is what it was {age:?} ago"),
            Self::Drain { worker } => write!(f, "worker {worker} is told to drain"),
            Self::StepWall { worker, ms } => write!(f, "the wall clock of worker {worker} is set by {ms} ms"),
            Self::StepDurable { ms } => write!(f, "the durable store's clock is set by {ms} ms"),
            Self::StepCoordination { ms } => write!(f, "coordination's clock is set by {ms} ms"),
        }
    }
}
