//! A state of the spec, and the words that its guards are written in.

use std::ops::{Index, IndexMut};

use super::constants::Constants;
use super::rows::{
    Attempt, AttemptRow, AttemptState, Job, JobRow, LeaseState, LinkState, Service, Worker, WorkerRow,
    WorkerState,
};

/// All variables of both modules; `Remora` leaves the three of `TwoStores` at their beginning.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct State {
    /// One row per job.
    pub jobs: Vec<JobRow>,
    /// `MaxAttempts` rows per job, job by job.
    pub attempts: Vec<AttemptRow>,
    /// One row per incarnation.
    pub workers: Vec<WorkerRow>,
    /// `coordinationLostOnce`.
    pub coordination_lost_once: bool,
    max_attempts: u16,
}

impl Clone for State {
    fn clone(&self) -> Self {
        Self {
            jobs: self.jobs.clone(),
            attempts: self.attempts.clone(),
            workers: self.workers.clone(),
            coordination_lost_once: self.coordination_lost_once,
            max_attempts: self.max_attempts,
        }
    }

    /// Keeps the allocations: the model copies millions of states into the same place.
    fn clone_from(&mut self, source: &Self) {
        self.jobs.clone_from(&source.jobs);
        self.attempts.clone_from(&source.attempts);
        self.workers.clone_from(&source.workers);
        self.coordination_lost_once = source.coordination_lost_once;
        self.max_attempts = source.max_attempts;
    }
}

impl State {
    /// `Init`.
    #[must_use]
    pub fn initial(constants: &Constants) -> Self {
        let workers = (0..constants.workers).map(|number| WorkerRow {
            worker_state: if number < constants.initial_workers {
                WorkerState::Up
            } else {
                WorkerState::Unused
            },
            links: [LinkState::Up; 3],
        });
        let attempts = usize::from(constants.jobs) * usize::from(constants.max_attempts);
        Self {
            jobs: vec![JobRow::NEW; usize::from(constants.jobs)],
            attempts: vec![AttemptRow::UNUSED; attempts],
            workers: workers.collect(),
            coordination_lost_once: false,
            max_attempts: constants.max_attempts,
        }
    }

    fn place(&self, attempt: Attempt) -> usize {
        usize::from(attempt.job.0) * usize::from(self.max_attempts) + usize::from(attempt.token) - 1
    }

    /// Whether `a ∈ AttemptIds`.
    #[must_use]
    pub fn is_attempt(&self, attempt: Attempt) -> bool {
        usize::from(attempt.job.0) < self.jobs.len() && (1..=self.max_attempts).contains(&attempt.token)
    }

    /// `Jobs`.
    pub fn job_ids(&self) -> impl Iterator<Item = Job> + use<> {
        (0..u16::try_from(self.jobs.len()).unwrap_or(u16::MAX)).map(Job)
    }

    /// `Workers`.
    pub fn worker_ids(&self) -> impl Iterator<Item = Worker> + use<> {
        (0..u16::try_from(self.workers.len()).unwrap_or(u16::MAX)).map(Worker)
    }

    /// `AttemptIds`, job by job.
    pub fn attempt_ids(&self) -> impl Iterator<Item = Attempt> + use<> {
        let max = self.max_attempts;
        self.job_ids().flat_map(move |job| (1..=max).map(move |token| Attempt { job, token }))
    }

    /// `AttemptId(j, currentToken[j] + 1)`: what the next claim allocates.
    #[must_use]
    pub fn next_attempt(&self, job: Job) -> Attempt {
        Attempt { job, token: self[job].current_token.saturating_add(1) }
    }

    /// `Terminal(j)`.
    #[must_use]
    pub fn terminal(&self, job: Job) -> bool {
        self[job].phase.is_terminal()
    }

    /// `CurrentAuthority(a)`.
    #[must_use]
    pub fn current_authority(&self, attempt: Attempt) -> bool {
        let row = &self[attempt.job];
        row.authority == Some(attempt) && row.current_token == attempt.token
    }

    /// `workerState[w] = WorkerUp`; nobody is not up.
    #[must_use]
    pub fn up(&self, worker: Option<Worker>) -> bool {
        worker.is_some_and(|worker| self[worker].worker_state == WorkerState::Up)
    }

    /// `CanReach(w, service)`; nobody reaches nothing.
    #[must_use]
    pub fn can_reach(&self, worker: Option<Worker>, service: Service) -> bool {
        worker.is_some_and(|worker| self[worker].links[service.index()] != LinkState::Down)
    }

    /// `Cardinality(ReservedJobs) + Cardinality(LiveLeases)`.
    #[must_use]
    pub fn places_in_use(&self) -> usize {
        let reserved = self.jobs.iter().filter(|row| row.reservation.is_some()).count();
        reserved + self.attempts.iter().filter(|row| row.lease_state == LeaseState::Live).count()
    }

    /// `Cardinality(ReservedFor(w)) + Cardinality(ExecutingFor(w))`: zombies count, they do execute.
    #[must_use]
    pub fn slots_in_use(&self, worker: Worker) -> usize {
        let reserved = self.jobs.iter().filter(|row| row.reservation == Some(worker)).count();
        let executing = |row: &&AttemptRow| {
            row.attempt_state == AttemptState::Executing && row.attempt_worker == Some(worker)
        };
        reserved + self.attempts.iter().filter(executing).count()
    }
}

impl Index<Job> for State {
    type Output = JobRow;
    fn index(&self, job: Job) -> &JobRow {
        &self.jobs[usize::from(job.0)]
    }
}

impl IndexMut<Job> for State {
    fn index_mut(&mut self, job: Job) -> &mut JobRow {
        &mut self.jobs[usize::from(job.0)]
    }
}

impl Index<Attempt> for State {
    type Output = AttemptRow;
    fn index(&self, attempt: Attempt) -> &AttemptRow {
        &self.attempts[self.place(attempt)]
    }
}

impl IndexMut<Attempt> for State {
    fn index_mut(&mut self, attempt: Attempt) -> &mut AttemptRow {
        let place = self.place(attempt);
        &mut self.attempts[place]
    }
}

impl Index<Worker> for State {
    type Output = WorkerRow;
    fn index(&self, worker: Worker) -> &WorkerRow {
        &self.workers[usize::from(worker.0)]
    }
}

impl IndexMut<Worker> for State {
    fn index_mut(&mut self, worker: Worker) -> &mut WorkerRow {
        &mut self.workers[usize::from(worker.0)]
    }
}
