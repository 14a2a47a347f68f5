//! One run: a world from a seed, lived to its end and judged.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Once, PoisonError};
use std::time::Duration;

use protocol::{ActorId, JobId};
use target::Digest;

use crate::checks::audit;
use crate::core::Halt;
use crate::plan::Options;
use crate::record::{Dated, Happened};
use crate::world::World;

/// What came of a run.
pub struct Outcome {
    /// What is wrong; empty for a run that was right.
    pub wrong: Vec<String>,
    /// How long it took, in the world's time.
    pub lasted: Duration,
    /// Attempts that were made.
    pub attempts: u64,
    /// Events that were recorded.
    pub events: usize,
    pub(crate) story: Vec<Dated>,
    pub(crate) names: BTreeMap<ActorId, String>,
    pub(crate) jobs: BTreeMap<JobId, usize>,
}

impl Outcome {
    /// A digest of all that happened, and when: the same for the same seed.
    #[must_use]
    pub fn digest(&self) -> String {
        let mut text = String::new();
        for (at, happened) in &self.story {
            let line = match happened {
                Happened::Event(event) => serde_json::to_string(event).unwrap_or_default(),
                Happened::Fate(fate) => fate.clone(),
            };
            text.push_str(&format!("{} {line}\n", at.as_nanos()));
        }
        Digest::of(text.as_bytes()).to_string()
    }
}

thread_local! {
    /// Panics of the run on this thread; `None` outside of one.
    static PANICS: RefCell<Option<Vec<String>>> = const { RefCell::new(None) };
}

/// Panics inside of a run are findings, also those that the product catches, and are not printed.
fn hear_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            let heard = PANICS.with_borrow_mut(|panics| {
                panics.as_mut().map(|panics| panics.push(info.to_string().replace('\n', " "))).is_some()
            });
            if !heard {
                usual(info);
            }
        }));
    });
}

/// Where workers' folders are made: in memory where the system has such a place.
fn place() -> PathBuf {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() }
}

/// Lives one seed.
///
/// # Panics
/// When there is no place for the workers' folders.
#[must_use]
pub fn run(seed: u64, options: &Options) -> Outcome {
    hear_panics();
    let folder = tempfile::Builder::new().prefix("remora-sim-").tempdir_in(place());
    let folder = folder.expect("the system has a place for temporary folders");
    PANICS.set(Some(Vec::new()));
    let world = World::new(seed, options, folder.path().to_owned());
    let lived = catch_unwind(AssertUnwindSafe(|| world.core.run(Box::pin(Arc::clone(&world).live()))));
    match lived {
        Ok(Ok(())) => {}
        Ok(Err(Halt::Silence)) => world.record.wrong("nothing can happen any more"),
        Ok(Err(Halt::Endless)) => world.record.wrong("something goes on without end"),
        Err(_) => world.record.wrong("a task panicked"),
    }
    let lasted = world.core.now();
    world.end();
    for panic in PANICS.take().unwrap_or_default() {
        world.record.wrong(format!("a panic: {panic}"));
    }
    judge(&world, lasted)
}

fn judge(world: &World, lasted: Duration) -> Outcome {
    if world.record.found().is_empty() {
        world.check_jobs();
    }
    let explained = world.record.explained();
    let story = world.record.take();
    world.check_events(&story);
    let report = audit(&story[..explained]);
    let mut wrong = world.record.found();
    let submitted = world.submitted.lock().unwrap_or_else(PoisonError::into_inner);
    let mut outcome = Outcome {
        wrong: Vec::new(),
        lasted,
        attempts: report.attempts,
        events: usize::try_from(report.events).unwrap_or(usize::MAX),
        names: world.names.lock().unwrap_or_else(PoisonError::into_inner).clone(),
        jobs: submitted.iter().map(|(number, id)| (*id, *number)).collect(),
        story,
    };
    for failure in &report.failures {
        let event = outcome.line(&failure.event);
        let rests = failure.prefix.len();
        wrong.push(format!("the audit: {failure} ({event}; event {rests} of its job)"));
    }
    outcome.wrong = wrong;
    outcome
}
