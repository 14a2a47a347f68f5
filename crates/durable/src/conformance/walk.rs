//! Random walks: the room and the law take the same steps, side by side.
//!
//! Every step asks one durable action, whether the law allows it or not. What the law's room guard refuses, the room
//! must refuse by the same name; what it allows, the room must take; and after each step the room's rows say what the
//! law's variables say. Where the room knows more than the law (a repeat is answered as the first time), the walk
//! expects that answer and no change.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use protocol::machine::{
    Attempt, AttemptState, Constants, Job, Law, Module, Move, StageState, State, Wants, Worker,
};
use protocol::{Action, AttemptId, FailureCause, Guard, JobId, JobSpec, Phase, Stamped, Step, Token};

use super::world::{Claimed, World, at_once, checkpoint, failure, finalize, loss, one, success};
use crate::{Authorized, InvalidateCheckpoint, RequestCancel, ScheduleRetry};

const BOUNDS: Constants = Constants {
    jobs: 3,
    workers: 1,
    initial_workers: 1,
    max_attempts: 4,
    max_progress: 1_000,
    lease_limit: 1,
    local_limit: 3,
    global_limit: 3,
    faults_enabled: false,
    fault_services: [false; 3],
};

/// What the room answered.
#[derive(Debug, PartialEq, Eq)]
enum Told {
    Taken,
    Refused(Guard),
}

fn told<T>(answer: Stamped<T>) -> Told {
    match answer.step {
        Step::Taken(_) => Told::Taken,
        Step::Refused(guard) => Told::Refused(guard),
        Step::SetAside(reason) => panic!("set aside: {reason}"),
    }
}

/// Repeatable chance.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }

    fn number(&mut self, bound: u16) -> u16 {
        u16::try_from(self.below(u64::from(bound))).unwrap()
    }
}

struct Walk {
    world: Arc<World>,
    law: Law,
    state: State,
    dice: Dice,
    jobs: Vec<JobId>,
    ids: BTreeMap<(u16, u16), AttemptId>,
    /// Which action ended an attempt: the same one again is a repeat.
    ended: BTreeMap<AttemptId, Action>,
    /// Actions that were taken.
    taken: BTreeSet<Action>,
}

impl Walk {
    async fn begin(world: Arc<World>, seed: u64) -> Self {
        let mut jobs = Vec::new();
        for _ in 0..BOUNDS.jobs {
            jobs.push(
                world.submit(JobSpec { max_attempts: u32::from(BOUNDS.max_attempts), ..at_once() }).await,
            );
        }
        let law = Law::of(Module::TwoStores, BOUNDS);
        let state = State::initial(&BOUNDS);
        Self {
            world,
            law,
            state,
            dice: Dice(seed),
            jobs,
            ids: BTreeMap::new(),
            ended: BTreeMap::new(),
            taken: BTreeSet::new(),
        }
    }

    fn job(&self, job: Job) -> JobId {
        self.jobs[usize::from(job.0)]
    }

    /// The room's name for an attempt; one that was never claimed has a name that nobody knows.
    fn claimed(&self, of: Attempt) -> Claimed {
        let attempt = self.ids.get(&(of.job.0, of.token)).copied();
        Claimed {
            job: self.job(of.job),
            attempt: attempt.unwrap_or_else(|| self.world.attempt_id()),
            token: Token(u32::from(of.token)),
            authorized: Authorized { token: Token(0), spec: JobSpec::default(), checkpoint: None },
        }
    }

    /// A durable step, at random; what only its sender knows is made true first.
    fn choose(&mut self) -> Move {
        let job = Job(self.dice.number(BOUNDS.jobs));
        let last = self.state[job].current_token;
        let token = if self.dice.below(4) > 0 { last } else { self.dice.number(BOUNDS.max_attempts) + 1 };
        let of = Attempt { job, token: token.max(1) };
        match self.dice.below(11) {
            0..=2 => Move::AuthorizeAttempt(job, Worker(0)),
            3 | 4 => {
                let row = &mut self.state[of];
                row.attempt_progress = (row.attempt_progress + 1).min(BOUNDS.max_progress - 1);
                Move::PersistCheckpoint(of)
            }
            5 if self.dice.below(4) == 0 => {
                self.state[of].pending_outcome = Some(Wants::Success);
                self.state[of].stage_state = StageState::Complete;
                Move::AcceptSuccess(of)
            }
            5 | 6 => {
                self.state[of].pending_outcome = Some(Wants::Failure);
                Move::AcceptFailure(of)
            }
            7 => Move::ReapLostAttempt(of),
            8 => Move::ScheduleRetry(job),
            9 => Move::InvalidateCheckpoint(job),
            _ if self.dice.below(4) > 0 => Move::ScheduleRetry(job),
            _ if self.state[job].phase == Phase::Cancelling => Move::FinalizeCancel(job),
            _ => Move::RequestCancel(job),
        }
    }

    async fn ask(&mut self, step: Move) -> Told {
        let room = self.world.room.clone();
        let origin = self.world.origin();
        match step {
            Move::AuthorizeAttempt(job, _) => {
                let request = self.world.claim_of(self.job(job)).await;
                let answer = one(room.authorize_attempt(&origin, std::slice::from_ref(&request)).await);
                if let Step::Taken(authorized) = &answer.step {
                    let token = u16::try_from(authorized.token.0).unwrap();
                    self.ids.insert((job.0, token), request.attempt);
                }
                told(answer)
            }
            Move::PersistCheckpoint(of) => {
                let request = checkpoint(&self.claimed(of), u64::from(self.state[of].attempt_progress));
                told(one(room.persist_checkpoint(&origin, &[request]).await))
            }
            Move::AcceptSuccess(of) => {
                told(one(room.accept_success(&origin, &[success(&self.claimed(of))]).await))
            }
            Move::AcceptFailure(of) => {
                let request = failure(&self.claimed(of), FailureCause::Failed);
                told(one(room.accept_failure(&origin, &[request]).await))
            }
            Move::ReapLostAttempt(of) => {
                told(one(room.reap_lost_attempt(&origin, &[loss(&self.claimed(of))]).await))
            }
            Move::ScheduleRetry(job) => {
                told(one(room.schedule_retry(&origin, &[ScheduleRetry { job: self.job(job) }]).await))
            }
            Move::RequestCancel(job) => {
                told(one(room.request_cancel(&origin, &[RequestCancel { job: self.job(job) }]).await))
            }
            Move::FinalizeCancel(job) => {
                let of = self.state[job].authority.unwrap();
                told(one(room.finalize_cancel(&origin, &[finalize(&self.claimed(of))]).await))
            }
            Move::InvalidateCheckpoint(job) => {
                let view = self.world.view(self.job(job)).await;
                let request = InvalidateCheckpoint {
                    job: self.job(job),
                    checkpoint_revision: view.checkpoint_revision,
                    reason: "bad".to_owned(),
                };
                told(one(room.invalidate_checkpoint(&origin, &[request]).await))
            }
            other => panic!("{other} is no durable action"),
        }
    }

    /// Whether the step repeats one that was taken, which the room answers as the first time.
    fn repeats(&self, step: Move) -> bool {
        match step {
            Move::AcceptSuccess(of) | Move::AcceptFailure(of) | Move::ReapLostAttempt(of) => {
                self.ids.get(&(of.job.0, of.token)).and_then(|id| self.ended.get(id)) == Some(&step.action())
            }
            Move::ScheduleRetry(job) => {
                self.state[job].phase == Phase::Queued && self.state[job].current_token > 0
            }
            Move::RequestCancel(job) => matches!(self.state[job].phase, Phase::Cancelling | Phase::Cancelled),
            _ => false,
        }
    }

    async fn step(&mut self) {
        let step = self.choose();
        let allowed = step.room_guard(&self.law, &self.state);
        let answer = self.ask(step).await;
        let expected = match allowed {
            Err(_) if self.repeats(step) => Told::Taken,
            Err(guard) => Told::Refused(guard),
            Ok(()) => Told::Taken,
        };
        assert_eq!(answer, expected, "{step} in {:?}", self.state);
        if allowed.is_ok() {
            self.taken.insert(step.action());
            step.apply(&self.law, &mut self.state);
            if let Move::AcceptSuccess(of) | Move::AcceptFailure(of) | Move::ReapLostAttempt(of) = step {
                self.ended.insert(self.ids[&(of.job.0, of.token)], step.action());
            }
        }
        self.compare(step).await;
    }

    async fn compare(&self, step: Move) {
        for job in self.state.job_ids() {
            let row = &self.state[job];
            let view = self.world.view(self.job(job)).await;
            let standing = self.world.room.phases(&[self.job(job)]).await.unwrap()[0].unwrap();
            let authority = row.authority.map(|of| self.ids[&(of.job.0, of.token)]);
            assert_eq!((standing.phase, standing.attempt), (row.phase, authority), "after {step}");
            assert_eq!(view.summary.token.0, u32::from(row.current_token), "after {step}");
            assert_eq!(self.world.offered(self.job(job)).await, row.dispatch_needed, "after {step}");
            let committed = row.committed_attempt.map(|of| self.ids[&(of.job.0, of.token)]);
            assert_eq!(view.result.map(|result| result.attempt), committed, "after {step}");
            if !row.phase.is_terminal() {
                let stored = self.world.room.checkpoint(self.job(job)).await.unwrap();
                let expected = row.checkpoint_valid.then_some(u64::from(row.checkpoint));
                assert_eq!(stored.map(|stored| stored.progress), expected, "after {step}");
            }
        }
        let executing = |row: &&protocol::machine::AttemptRow| row.attempt_state == AttemptState::Executing;
        assert_eq!(self.state.attempts.iter().filter(executing).count(), 0, "coordination is not walked");
    }
}

/// Walks with new jobs until they have ended, several times over.
async fn walk(world: World, seed: u64) {
    let world = Arc::new(world);
    let mut taken = BTreeSet::new();
    for round in 0..6 {
        let mut walk = Walk::begin(Arc::clone(&world), seed + round).await;
        for _ in 0..150 {
            walk.step().await;
            if walk.state.jobs.iter().all(|row| row.phase.is_terminal()) {
                break;
            }
        }
        taken.append(&mut walk.taken);
    }
    assert_eq!(taken.len(), 9, "every durable action but RejectOutcome was taken: {taken:?}");
}

pub async fn a_walk_of_the_room_is_a_walk_of_the_law(world: World) {
    walk(world, 1).await;
}

pub async fn another_walk_of_the_room_is_a_walk_of_the_law(world: World) {
    walk(world, 20_261_130).await;
}

pub async fn a_third_walk_of_the_room_is_a_walk_of_the_law(world: World) {
    walk(world, 0x9e37_79b9_7f4a_7c15).await;
}
