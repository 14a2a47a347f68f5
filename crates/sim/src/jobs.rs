//! The jobs of a run, their one handler, and what their results must be.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use protocol::{AttemptId, JobId, JobSpec, Priority, RetryPolicy, Token, UserProgress};
use rand::RngExt;
use rand::rngs::StdRng;
use runtime::Clock;
use tokio::sync::watch;
use worker::{Handler, HandlerError, Run, Stop};

use crate::record::{Point, Record};

/// The kind of all jobs here.
pub(crate) const KIND: &str = "story";

/// How a job behaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flavour {
    /// Counts, with a checkpoint after each step.
    Counts,
    /// The same with a state that does not fit into a row.
    CountsWithMuchState,
    /// The same, and fails in its first attempts.
    CountsAndFails(u32),
    /// The same, and does not hear that it should stop.
    CountsDeaf,
    /// The same with two attempts in all.
    CountsFragile,
    /// Writes files at the end, without a checkpoint.
    WritesAtOnce,
    /// Leaves nothing.
    Silent,
    /// Never succeeds.
    Hopeless,
    /// Runs longer than it may, in each of two attempts.
    TooLong,
}

/// One job of a run.
#[derive(Debug, Clone)]
pub(crate) struct JobPlan {
    pub(crate) number: usize,
    pub(crate) flavour: Flavour,
    pub(crate) steps: u64,
    pub(crate) step: Duration,
    pub(crate) submit_at: Duration,
    /// Since its submission.
    pub(crate) cancel_after: Option<Duration>,
    priority: u8,
}

impl JobPlan {
    pub(crate) fn new(number: usize, chance: &mut StdRng) -> Self {
        let flavour = match chance.random_range(0..20) {
            0..=8 => Flavour::Counts,
            9 => Flavour::CountsWithMuchState,
            10 | 11 => Flavour::CountsAndFails(chance.random_range(1..4)),
            12 | 13 => Flavour::CountsDeaf,
            14 => Flavour::CountsFragile,
            15 | 16 => Flavour::WritesAtOnce,
            17 => Flavour::Silent,
            18 => Flavour::Hopeless,
            _ => Flavour::TooLong,
        };
        let cancelled = chance.random_range(0..4) == 0;
        let cancel_after = Duration::from_millis(chance.random_range(0..20_000));
        Self {
            number,
            flavour,
            steps: chance.random_range(1..7),
            step: Duration::from_millis(chance.random_range(50..1_500)),
            submit_at: Duration::from_millis(chance.random_range(0..12_000)),
            cancel_after: cancelled.then_some(cancel_after),
            priority: chance.random_range(1..=3),
        }
    }

    /// What is submitted.
    pub(crate) fn spec(&self) -> JobSpec {
        let few = matches!(self.flavour, Flavour::CountsFragile | Flavour::TooLong);
        JobSpec {
            kind: KIND.to_owned(),
            args: self.number.to_string(),
            priority: Priority(self.priority),
            max_attempts: if few { 2 } else { 1_000 },
            timeout_ms: (self.flavour == Flavour::TooLong).then_some(1_200),
            retry: RetryPolicy { base_ms: 200, cap_ms: 2_000 },
            ..JobSpec::default()
        }
    }

    pub(crate) fn may_fail(&self) -> bool {
        matches!(self.flavour, Flavour::CountsFragile | Flavour::TooLong | Flavour::Hopeless)
    }

    pub(crate) fn may_succeed(&self) -> bool {
        !matches!(self.flavour, Flavour::TooLong | Flavour::Hopeless)
    }

    /// The files of its result, by name.
    pub(crate) fn result(&self) -> BTreeMap<String, Vec<u8>> {
        match self.flavour {
            Flavour::Silent | Flavour::Hopeless | Flavour::TooLong => BTreeMap::new(),
            Flavour::WritesAtOnce => {
                let names = ["a", "b/c"];
                names.iter().map(|name| ((*name).to_owned(), text_of(self.number, name))).collect()
            }
            _ => [(LINES.to_owned(), lines(self.steps))].into(),
        }
    }
}

const LINES: &str = "lines";
const MUCH: usize = 70_000;

fn text_of(number: usize, name: &str) -> Vec<u8> {
    format!("job {number} wrote {name}\n").into_bytes()
}

/// What is in the output after so many steps.
fn lines(steps: u64) -> Vec<u8> {
    (1..=steps).flat_map(|step| format!("{step}\n").into_bytes()).collect()
}

/// Who executes what at the moment, over all workers.
#[derive(Default)]
pub(crate) struct Executing {
    inside: Mutex<BTreeSet<(JobId, AttemptId, Place)>>,
    frozen: Mutex<BTreeSet<Place>>,
    /// The last step of each attempt whose checkpoint was acknowledged.
    acknowledged: Mutex<BTreeMap<(JobId, Token), u64>>,
}

/// A start of a worker: which worker, which start.
pub(crate) type Place = (usize, u32);

impl Executing {
    fn lock(&self) -> MutexGuard<'_, BTreeSet<(JobId, AttemptId, Place)>> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// This start of a worker was frozen: it may not know what it has lost.
    pub(crate) fn froze(&self, place: Place) {
        self.frozen.lock().unwrap_or_else(PoisonError::into_inner).insert(place);
    }

    fn was_frozen(&self, place: Place) -> bool {
        self.frozen.lock().unwrap_or_else(PoisonError::into_inner).contains(&place)
    }

    /// The last step that was acknowledged to an attempt before this one: one that was stopped at its start may be
    /// overtaken before it goes on.
    fn acknowledged_before(&self, job: JobId, token: Token) -> u64 {
        let all = self.acknowledged.lock().unwrap_or_else(PoisonError::into_inner);
        all.range((job, Token(0))..(job, token)).map(|(_, step)| *step).max().unwrap_or(0)
    }

    fn acknowledge(&self, job: JobId, token: Token, step: u64) {
        self.acknowledged.lock().unwrap_or_else(PoisonError::into_inner).insert((job, token), step);
    }

    /// What executes.
    pub(crate) fn count(&self) -> usize {
        self.lock().len()
    }
}

/// While it lives, an attempt executes.
struct Inside {
    executing: Arc<Executing>,
    entry: (JobId, AttemptId, Place),
}

impl Drop for Inside {
    fn drop(&mut self) {
        self.executing.lock().remove(&self.entry);
    }
}

/// The handler, on one start of a worker.
pub(crate) struct Story {
    pub(crate) jobs: Arc<Vec<JobPlan>>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) record: Arc<Record>,
    pub(crate) executing: Arc<Executing>,
    pub(crate) place: Place,
    pub(crate) slots: usize,
    pub(crate) may_overlap: bool,
}

fn failed(text: impl Into<String>) -> HandlerError {
    HandlerError { text: text.into(), permanent: false }
}

impl Story {
    fn enter(&self, run: &Run) -> Inside {
        let (job, attempt) = (run.control.job(), run.control.attempt());
        let mut inside = self.executing.lock();
        let here = inside.iter().filter(|(_, _, place)| *place == self.place).count();
        if here >= self.slots {
            self.record.wrong(format!("worker {} executes more than its {} slots", self.place.0, self.slots));
        }
        let other = inside.iter().find(|(of, _, place)| *of == job && !self.executing.was_frozen(*place));
        // One that was stopped at its start learns of its successor when it goes on.
        let knows = !self.may_overlap && !self.executing.was_frozen(self.place);
        if let Some((_, _, place)) = other.filter(|_| knows) {
            self.record.wrong(format!(
                "two attempts of one job execute at once, on workers {} and {}, and nothing was frozen",
                place.0, self.place.0
            ));
        }
        let entry = (job, attempt, self.place);
        inside.insert(entry);
        drop(inside);
        Inside { executing: Arc::clone(&self.executing), entry }
    }

    /// A step's work; an error when it was told to stop meanwhile.
    async fn work(&self, plan: &JobPlan, stop: &mut watch::Receiver<Stop>) -> Result<(), HandlerError> {
        if plan.flavour == Flavour::CountsDeaf {
            self.clock.sleep(plan.step).await;
            return Ok(());
        }
        tokio::select! {
            biased;
            _ = stop.wait_for(|stop| *stop != Stop::None) => Err(failed("it was told to stop")),
            () = self.clock.sleep(plan.step) => Ok(()),
        }
    }

    async fn count(&self, run: &Run, plan: &JobPlan) -> Result<(), HandlerError> {
        let text = String::from_utf8_lossy(&run.state);
        let done = text.trim().parse::<u64>().unwrap_or(0);
        let output = run.output().map_err(|error| failed(error.to_string()))?;
        let file = output.join(LINES);
        let found = fs::read(&file).unwrap_or_default();
        if found != lines(done) {
            let found = String::from_utf8_lossy(&found).replace('\n', " ");
            self.record.wrong(format!("job {} resumes at {done} with the output {found:?}", plan.number));
        }
        let (job, token) = (run.control.job(), run.control.token());
        let acknowledged = self.executing.acknowledged_before(job, token);
        if done < acknowledged {
            self.record
                .wrong(format!("job {} resumes at {done}, and {acknowledged} was acknowledged", plan.number));
        }
        let mut stop = run.control.stop();
        for step in done + 1..=plan.steps {
            append(&file, step)?;
            self.work(plan, &mut stop).await?;
            let user = UserProgress { done: step, total: Some(plan.steps), message: None };
            run.control
                .checkpoint(user, state(plan, step))
                .await
                .map_err(|error| failed(error.to_string()))?;
            self.executing.acknowledge(job, token, step);
        }
        // So that an attempt with all its checkpoints behind it still runs for a while.
        self.work(plan, &mut stop).await?;
        match plan.flavour {
            Flavour::CountsAndFails(attempts) if run.control.token().0 <= attempts => Err(failed("not yet")),
            _ => Ok(()),
        }
    }
}

fn state(plan: &JobPlan, step: u64) -> Vec<u8> {
    let mut state = step.to_string().into_bytes();
    if plan.flavour == Flavour::CountsWithMuchState {
        state.resize(MUCH, b' ');
    }
    state
}

fn append(file: &Path, step: u64) -> Result<(), HandlerError> {
    let mut options = fs::OpenOptions::new();
    let opened = options.create(true).append(true).open(file);
    opened.and_then(|mut file| writeln!(file, "{step}")).map_err(|error| failed(error.to_string()))
}

fn write_at_once(run: &Run, plan: &JobPlan) -> Result<(), HandlerError> {
    let output = run.output().map_err(|error| failed(error.to_string()))?;
    for (name, bytes) in plan.result() {
        let path = output.join(name);
        let folder = path.parent().unwrap_or(&output);
        fs::create_dir_all(folder)
            .and_then(|()| fs::write(&path, bytes))
            .map_err(|error| failed(error.to_string()))?;
    }
    Ok(())
}

#[async_trait]
impl Handler for Story {
    fn kind(&self) -> &str {
        KIND
    }

    async fn run(&self, run: Arc<Run>) -> Result<(), HandlerError> {
        let number = run.authorized.spec.args.parse().unwrap_or(usize::MAX);
        let plan = self.jobs.get(number).ok_or_else(|| failed("a job that nobody planned"))?;
        let _inside = self.enter(&run);
        let ended = self.execute(&run, plan).await;
        self.record.reached(self.place.0, Point::Done);
        ended
    }
}

impl Story {
    async fn execute(&self, run: &Run, plan: &JobPlan) -> Result<(), HandlerError> {
        let mut stop = run.control.stop();
        match plan.flavour {
            Flavour::Silent => self.work(plan, &mut stop).await,
            Flavour::WritesAtOnce => {
                self.work(plan, &mut stop).await?;
                write_at_once(run, plan)
            }
            Flavour::Hopeless => {
                self.work(plan, &mut stop).await?;
                Err(HandlerError { text: "it never works".to_owned(), permanent: true })
            }
            Flavour::TooLong => {
                let long = JobPlan { step: Duration::from_secs(5), ..plan.clone() };
                self.work(&long, &mut stop).await
            }
            _ => self.count(run, plan).await,
        }
    }
}
