//! A point in a replay: what has been placed, and the state of the spec that this gives.

use std::hash::{DefaultHasher, Hash, Hasher};

use protocol::machine::{
    Attempt, AttemptState, Constants, INVARIANTS, Law, LeaseState, Move, Rules, STEP_PROPERTIES, State,
    Worker, WorkerState,
};
use protocol::{Action, Guard, ReservationId};

use super::failure::Why;
use super::trace::{ACTORS, JOB, Trace};

/// See the module.
#[derive(Clone)]
pub(super) struct Node {
    /// How many events of each list have been placed.
    pub(super) at: Vec<usize>,
    pub(super) state: State,
    /// The job's revision.
    pub(super) revision: u64,
    /// The job's budget, which a permanent failure lowers.
    pub(super) max_attempts: u16,
    /// The epoch of the last event of coordination, or, after a loss, the one that ended.
    pub(super) epoch: u64,
    /// Coordination was lost, and nothing of the new epoch has been placed yet.
    pub(super) lost: bool,
    /// The permit that is held, by its id.
    pub(super) reservation: Option<ReservationId>,
    /// Attempts whose worker let the lease end before the store did: `ExpireLease` has been placed, and what the
    /// store does to it later is that step seen by the store.
    pub(super) early: Vec<u16>,
    /// Attempt by attempt, the epoch of its last lease.
    pub(super) leased_in: Vec<u64>,
    /// The file of each store's last event.
    pub(super) segments: [u64; ACTORS],
    /// Steps that no event tells of.
    pub(super) inferred: u64,
}

impl Node {
    pub(super) fn first(trace: &Trace<'_>) -> Self {
        let rows = Constants { max_attempts: trace.rows, ..trace.constants };
        Self {
            at: vec![0; trace.lists.len()],
            state: State::initial(&rows),
            revision: 1,
            max_attempts: trace.constants.max_attempts,
            epoch: 0,
            lost: false,
            reservation: None,
            early: Vec::new(),
            leased_in: vec![0; usize::from(trace.rows)],
            segments: [trace.first_segment; ACTORS],
            inferred: 0,
        }
    }

    /// What tells it from other points, as a hash.
    pub(super) fn key(&self) -> u128 {
        let half = |salt: u64| {
            let mut hasher = DefaultHasher::new();
            salt.hash(&mut hasher);
            (&self.at, &self.state, self.revision, self.max_attempts, self.epoch).hash(&mut hasher);
            (self.lost, self.reservation, &self.early, &self.leased_in, self.segments).hash(&mut hasher);
            u128::from(hasher.finish())
        };
        half(1) << 64 | half(2)
    }

    pub(super) fn placed(&self) -> usize {
        self.at.iter().sum()
    }
}

/// A node on its way to the next one: steps are taken on it, and each is checked.
pub(super) struct Trial<'a> {
    pub(super) trace: &'a Trace<'a>,
    pub(super) node: Node,
}

impl<'a> Trial<'a> {
    pub(super) fn new(trace: &'a Trace<'a>, node: &Node) -> Self {
        Self { trace, node: node.clone() }
    }

    pub(super) fn law(&self) -> Law {
        let constants = Constants { max_attempts: self.node.max_attempts, ..self.trace.constants };
        Law { rules: Rules::audit(), constants }
    }

    /// The step that an event tells of: the spec allows it, and so does its own room.
    pub(super) fn step(&mut self, step: Move) -> Result<(), Why> {
        step.room_guard(&self.law(), &self.node.state).map_err(|guard| Why::Guard(step.action(), guard))?;
        self.take(step)
    }

    /// A step that no event tells of.
    pub(super) fn infer(&mut self, step: Move) -> Result<(), Why> {
        self.node.inferred += 1;
        self.take(step)
    }

    fn take(&mut self, step: Move) -> Result<(), Why> {
        let law = self.law();
        step.spec_guard(&law, &self.node.state).map_err(|guard| Why::Guard(step.action(), guard))?;
        let before = self.node.state.clone();
        step.apply(&law, &mut self.node.state);
        self.is_allowed(&before)
    }

    /// A lease that coordination gave back to an attempt whose end its worker had not heard of.
    pub(super) fn lease_unheard(&mut self, of: Attempt) -> Result<(), Why> {
        let before = self.node.state.clone();
        let row = &mut self.node.state[of];
        (row.lease_state, row.lease_age) = (LeaseState::Live, 0);
        self.is_allowed(&before)
    }

    fn is_allowed(&self, before: &State) -> Result<(), Why> {
        let (law, after) = (self.law(), &self.node.state);
        let broken = INVARIANTS.iter().find(|one| !(one.holds)(&law.constants, after)).map(|one| one.name);
        let broken = broken
            .or_else(|| STEP_PROPERTIES.iter().find(|one| !(one.holds)(before, after)).map(|one| one.name));
        broken.map_or(Ok(()), |name| Err(Why::Broken(name)))
    }

    /// The attempt of that token, if the spec has one.
    pub(super) fn attempt(&self, action: Action, token: Option<u16>) -> Result<Attempt, Why> {
        let of = Attempt { job: JOB, token: token.unwrap_or(0) };
        if self.node.state.is_attempt(of) { Ok(of) } else { Err(Why::Guard(action, Guard::AttemptUnused)) }
    }

    pub(super) fn is(&self, of: Attempt, state: AttemptState) -> bool {
        self.node.state[of].attempt_state == state
    }

    pub(super) fn lease_is_live(&self, of: Attempt) -> bool {
        self.node.state[of].lease_state == LeaseState::Live
    }

    /// `StartIncarnation`, where the worker is named for the first time.
    pub(super) fn up(&mut self, worker: u16) -> Result<Worker, Why> {
        let worker = Worker(worker);
        if self.node.state[worker].worker_state == WorkerState::Unused {
            self.infer(Move::StartIncarnation(worker))?;
        }
        Ok(worker)
    }

    /// `Tick`, where a young lease has to be older.
    pub(super) fn age(&mut self, of: Attempt) -> Result<(), Why> {
        if self.lease_is_live(of) && self.node.state[of].lease_age == 0 {
            self.infer(Move::Tick)?;
        }
        Ok(())
    }

    /// `LoseCoordinationState`.
    pub(super) fn lose(&mut self) -> Result<(), Why> {
        self.infer(Move::LoseCoordinationState)?;
        self.node.lost = true;
        self.node.reservation = None;
        self.node.early.clear();
        Ok(())
    }

    /// `FalseSuspicion`: the permit is gone and no event says how.
    pub(super) fn suspect(&mut self) -> Result<(), Why> {
        self.infer(Move::FalseSuspicion(JOB))?;
        self.node.reservation = None;
        Ok(())
    }
}
