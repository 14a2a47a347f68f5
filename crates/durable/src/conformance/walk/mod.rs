//! Random walks: an adapter and the law's own room get the same requests, side by side.
//!
//! Every answer must be the same (steps, guards, marks, effects), and so must what is read afterwards. A request is
//! drawn as an intent ("the current attempt of the third job fails") and becomes concrete when it is sent, from what
//! the law's room holds then; so a walk goes deep, and a walk that was cut short is still a walk. Requests come
//! again, from any moment before; they name attempts that have ended, strangers, wrong tokens and old checkpoints.
//!
//! The seed is fixed unless `REMORA_WALK_SEED` gives another; `REMORA_WALKS` and `REMORA_WALK_STEPS` make more and
//! longer walks.

mod ask;
mod pair;
mod request;

use std::collections::BTreeMap;
use std::env;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, PoisonError};

use proptest::strategy::{BoxedStrategy, Just, Strategy as _};
use proptest::test_runner::{Config, FileFailurePersistence, RngSeed, TestError, TestRunner};
use proptest_state_machine::{ReferenceStateMachine, StateMachineTest};

use super::Fixture;
use ask::Ask;
use pair::Pair;

/// Walks that see all there is, and steps of each, where nobody asks for more.
pub const WALKS: u32 = 30;
const STEPS: usize = 150;

/// An adapter that walks.
pub trait Adapter: 'static {
    /// A fixture with a fresh room.
    fn fresh() -> Arc<dyn Fixture>;
}

/// How often each answer was given, by action: a walk that gets nowhere shows nothing.
static TOLD: Mutex<BTreeMap<String, u64>> = Mutex::new(BTreeMap::new());

/// What every walk together must have seen.
const SEEN: &[&str] = &[
    "submit taken",
    "submit same_request",
    "submit set_aside",
    "authorize_attempt taken",
    "authorize_attempt job_exists",
    "authorize_attempt phase_queued",
    "authorize_attempt lost",
    "authorize_attempt attempt_unused",
    "authorize_attempt checkpoint_changed",
    "authorize_attempt set_aside",
    "authorize_attempt not_set_aside",
    "persist_checkpoint taken",
    "persist_checkpoint authority",
    "persist_checkpoint phase_running",
    "persist_checkpoint progress_positive",
    "persist_checkpoint checkpoint_advances",
    "accept_success taken",
    "accept_success authority",
    "accept_success phase_running",
    "accept_failure taken",
    "accept_failure authority",
    "accept_failure phase_running",
    "accept_failure set_aside",
    "reap_lost_attempt taken",
    "reap_lost_attempt authority",
    "reap_lost_attempt phase_running",
    "schedule_retry taken",
    "schedule_retry phase_retry_wait",
    "schedule_retry due",
    "request_cancel taken",
    "request_cancel cancellable",
    "request_cancel job_exists",
    "finalize_cancel taken",
    "finalize_cancel phase_cancelling",
    "finalize_cancel authority",
    "invalidate_checkpoint taken",
    "invalidate_checkpoint not_terminal",
    "invalidate_checkpoint checkpoint_valid",
    "invalidate_checkpoint checkpoint_changed",
    "retry taken",
    "retry terminal",
    "retry cancellable",
    "retry job_exists",
    "raise_epoch taken",
    "raise_epoch epoch_current",
    "open_epoch taken",
    "open_epoch epoch_current",
];

fn tell(what: String) {
    *TOLD.lock().unwrap_or_else(PoisonError::into_inner).entry(what).or_insert(0) += 1;
}

fn number<T: std::str::FromStr>(name: &str, otherwise: T) -> T {
    env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

struct Walk<A>(PhantomData<A>);

impl<A: Adapter> ReferenceStateMachine for Walk<A> {
    type State = ();
    type Transition = Ask;

    fn init_state() -> BoxedStrategy<()> {
        Just(()).boxed()
    }

    fn transitions((): &()) -> BoxedStrategy<Ask> {
        ask::any()
    }

    fn apply((): (), _: &Ask) {}
}

impl<A: Adapter> StateMachineTest for Walk<A> {
    type SystemUnderTest = Pair;
    type Reference = Self;

    fn init_test((): &()) -> Pair {
        Pair::new(A::fresh())
    }

    fn apply(mut pair: Pair, (): &(), ask: Ask) -> Pair {
        pair.step(&ask);
        pair
    }

    fn teardown(pair: Pair, (): ()) {
        pair.compare_all();
    }
}

/// Walks the adapter beside the law, so many times.
///
/// # Panics
/// When they part, with the shortest walk found on which they do; or when the walks have not seen all there is.
pub fn beside_the_law<A: Adapter>(walks: u32) {
    let (walks, steps) = (number("REMORA_WALKS", walks), number("REMORA_WALK_STEPS", STEPS));
    let seed = number("REMORA_WALK_SEED", 20_261_130);
    let config = Config {
        cases: walks,
        rng_seed: RngSeed::Fixed(seed),
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct("tests/walks.regressions"))),
        max_shrink_iters: 2_000,
        ..Config::default()
    };
    let walk = Walk::<A>::sequential_strategy(steps / 2..=steps);
    let result = TestRunner::new(config.clone()).run(&walk, |((), asks, seen)| {
        Walk::<A>::test_sequential(config.clone(), (), asks, seen);
        Ok(())
    });
    match result {
        Ok(()) => {}
        Err(TestError::Fail(reason, ((), asks, _))) => {
            panic!("seed {seed}: the adapter and the law part: {reason}\nafter {asks:#?}")
        }
        Err(TestError::Abort(reason)) => panic!("seed {seed}: {reason}"),
    }
    let told = TOLD.lock().unwrap_or_else(PoisonError::into_inner);
    let unseen: Vec<_> = SEEN.iter().filter(|seen| !told.contains_key(**seen)).collect();
    assert!(walks < WALKS || unseen.is_empty(), "seed {seed}: never seen: {unseen:?} in {told:#?}");
}
