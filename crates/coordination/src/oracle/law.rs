//! The spec's variables of the pool, and which job, attempt and incarnation each of its rows stands for.

use std::collections::BTreeMap;

use protocol::machine::{
    Attempt, AttemptRow, AttemptState, Constants, Job, JobRow, Law, LeaseState, LinkState, Module, Move,
    Rules, Service, State, Worker, WorkerRow, WorkerState,
};
use protocol::{AttemptId, Guard, Incarnation, JobId};

/// Attempts of one job that the law can tell apart at a time; the place of one without a lease is used again.
const SLOTS: u16 = 64;
/// The age of a lease that is past its length.
const OLD: u16 = 2;

/// The variables.
pub(super) struct Variables {
    state: State,
    jobs: BTreeMap<JobId, Job>,
    workers: BTreeMap<Incarnation, Worker>,
    /// By place; which attempt it stands for.
    slots: BTreeMap<Attempt, AttemptId>,
}

impl Variables {
    /// No job and no worker yet.
    pub(super) fn new() -> Self {
        let none =
            Constants { jobs: 0, workers: 0, initial_workers: 0, max_attempts: SLOTS, ..Constants::ONE };
        Self {
            state: State::initial(&none),
            jobs: BTreeMap::new(),
            workers: BTreeMap::new(),
            slots: BTreeMap::new(),
        }
    }

    /// The law of a running program, with so many places.
    fn law(places: usize) -> Law {
        let constants = Constants {
            max_attempts: SLOTS,
            max_progress: u16::MAX,
            lease_limit: OLD,
            local_limit: u16::MAX,
            global_limit: u16::try_from(places).unwrap_or(u16::MAX),
            ..Constants::ONE
        };
        let constants = constants.with_faults(Service::ALL);
        Law { rules: Rules::audit(), ..Law::of(Module::TwoStores, constants) }
    }

    pub(super) fn job(&mut self, id: JobId) -> Job {
        let next = Job(u16::try_from(self.jobs.len()).expect("fewer jobs than the law can count"));
        *self.jobs.entry(id).or_insert_with(|| {
            self.state.jobs.push(JobRow::NEW);
            self.state.attempts.extend((0..SLOTS).map(|_| AttemptRow::UNUSED));
            next
        })
    }

    pub(super) fn worker(&mut self, id: Incarnation) -> Worker {
        let next = Worker(u16::try_from(self.workers.len()).expect("fewer workers than the law can count"));
        *self.workers.entry(id).or_insert_with(|| {
            self.state.workers.push(WorkerRow { worker_state: WorkerState::Up, links: [LinkState::Up; 3] });
            next
        })
    }

    pub(super) fn attempt(&mut self, job: JobId, id: AttemptId) -> Attempt {
        let job = self.job(job);
        let places = || (1..=SLOTS).map(|token| Attempt { job, token });
        if let Some(known) = places().find(|place| self.slots.get(place) == Some(&id)) {
            return known;
        }
        let free = |place: &Attempt| self.state[*place].lease_state != LeaseState::Live;
        let unused = places().find(|place| !self.slots.contains_key(place));
        let place =
            unused.or_else(|| places().find(free)).expect("fewer leases of a job than the law can hold");
        self.slots.insert(place, id);
        self.state[place] = AttemptRow::UNUSED;
        place
    }

    /// Which attempt a place stands for.
    pub(super) fn id(&self, of: Attempt) -> Option<AttemptId> {
        self.slots.get(&of).copied()
    }

    pub(super) fn row(&self, id: JobId) -> Option<&JobRow> {
        self.jobs.get(&id).map(|job| &self.state[*job])
    }

    /// `Cardinality(ReservedJobs) + Cardinality(LiveLeases)`.
    pub(super) fn places_in_use(&self) -> usize {
        self.state.places_in_use()
    }

    /// What only the sender knows is as the request says.
    pub(super) fn knowing(&mut self, of: Attempt, worker: Option<Worker>, state: AttemptState) {
        let row = &mut self.state[of];
        row.attempt_state = state;
        row.attempt_worker = worker.or(row.attempt_worker);
    }

    /// An attempt that executes without a lease had one, and this room has forgotten it.
    pub(super) fn had_a_lease(&mut self, of: Attempt) {
        if self.state[of].lease_state == LeaseState::NoLease {
            self.state[of].lease_state = LeaseState::Expired;
        }
    }

    /// What the attempt says of its progress, as a number: another one for something else than is shown.
    pub(super) fn says(&mut self, of: Attempt, something_else: bool) {
        let shown = self.state[of.job].live_progress;
        self.state[of].attempt_progress = if something_else { shown.wrapping_add(1) } else { shown };
    }

    /// A lease is past its length, or at least a tick old: every request comes after the one before.
    pub(super) fn tick(&mut self, of: Attempt, past_its_length: bool) {
        self.state[of].lease_age = if past_its_length { OLD } else { 1 };
    }

    /// Jobs of which a notice stands or progress is shown.
    pub(super) fn jobs_told_of(&self) -> impl Iterator<Item = JobId> {
        let told = |row: &JobRow| row.cancel_notice || row.live_progress_attempt.is_some();
        self.jobs.iter().filter(move |(_, job)| told(&self.state[**job])).map(|(id, _)| *id)
    }

    /// Whether the room's guards allow the step.
    pub(super) fn guard(&self, step: Move, places: usize) -> Result<(), Guard> {
        step.room_guard(&Self::law(places), &self.state)
    }

    /// The step, if the room's guards allow it; `places` is what the limit leaves to reservations and leases.
    pub(super) fn step(&mut self, step: Move, places: usize) -> Result<(), Guard> {
        let law = Self::law(places);
        self.guard(step, places)?;
        step.apply(&law, &mut self.state);
        Ok(())
    }
}
