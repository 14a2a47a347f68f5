//! Random walks: an adapter and the law's own room get the same requests, side by side.
//!
//! Every answer must be the same (steps, guards, effects; not the order numbers, which each room gives), and so must
//! what is read afterwards. A request is drawn as an intent and becomes concrete when it is sent, from what the law's
//! room holds then; so a walk goes deep, and a walk that was cut short is still a walk. Requests come again, from any
//! moment before; they name strangers and other epochs; and everything is lost now and then.
//!
//! The seed is fixed unless `REMORA_WALK_SEED` gives another; `REMORA_WALKS` and `REMORA_WALK_STEPS` make more and
//! longer walks.

mod ask;
mod pair;
mod request;

use std::collections::BTreeMap;
use std::env;
use std::marker::PhantomData;
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use proptest::strategy::{BoxedStrategy, Just, Strategy as _};
use proptest::test_runner::{Config, FileFailurePersistence, RngSeed, TestError, TestRunner};
use proptest_state_machine::{ReferenceStateMachine, StateMachineTest};

use super::Fixture;
use ask::Ask;
use pair::Pair;

/// Walks that see all there is, and steps of each, where nobody asks for more.
pub const WALKS: u32 = 60;
const STEPS: usize = 400;

/// An adapter that walks.
#[async_trait]
pub trait Adapter: 'static {
    /// A fixture with a fresh room.
    async fn fresh() -> Box<dyn Fixture>;
}

/// How often each answer was given, by action: a walk that gets nowhere shows nothing.
static TOLD: Mutex<BTreeMap<String, u64>> = Mutex::new(BTreeMap::new());

/// What all walks together must have seen, beside `stale` of every action.
const SEEN: &[&str] = &[
    "enqueue taken",
    "enqueue not_queued",
    "enqueue not_reserved",
    "enqueue lease_not_live",
    "enqueue window_registered",
    "reserve taken",
    "reserve opening",
    "reserve global_limit",
    "reserve queue_paused",
    "reserve queued",
    "reserve reservation_held",
    "claim_refused taken",
    "claim_refused reservation_held",
    "activate_attempt taken",
    "activate_attempt reservation_held",
    "renew_lease taken",
    "renew_lease lease_live",
    "renew_reservation taken",
    "renew_reservation reservation_held",
    "expire_lease taken",
    "drop_reservation taken",
    "release_reservation taken",
    "release_reservation reservation_held",
    "release_lease taken",
    "release_lease lease_live",
    "publish_cancel_notice taken",
    "publish_cancel_notice not_noticed",
    "clean_terminal_coordination taken",
    "clean_terminal_coordination something_to_clean",
    "report_progress taken",
    "report_progress lease_live",
    "report_progress progress_changed",
    "restore_lease taken",
    "restore_lease grace_over",
    "restore_lease lease_ended_by_age",
    "restore_lease authority",
    "restore_lease global_limit",
    "restore_lease lease_live",
    "reap_observe taken",
    "reap_observe opening",
    "reap_observe grace",
    "reap_observe lease_not_live",
    "reap_observe reservation_not_held",
    "settle taken",
    "account taken",
    "account opening",
    "open_epoch taken",
    "configure taken",
    "register taken",
];

/// Actions that another epoch is refused by.
const STALE: &[&str] = &[
    "enqueue",
    "reserve",
    "claim_refused",
    "activate_attempt",
    "renew_lease",
    "renew_reservation",
    "expire_lease",
    "drop_reservation",
    "release_reservation",
    "release_lease",
    "publish_cancel_notice",
    "clean_terminal_coordination",
    "report_progress",
    "restore_lease",
    "reap_observe",
    "settle",
    "account",
    "open_epoch",
    "configure",
    "register",
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
        Pair::new::<A>()
    }

    fn apply(mut pair: Pair, (): &(), ask: Ask) -> Pair {
        pair.step(&ask);
        pair
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
    let stale = STALE.iter().map(|action| format!("{action} stale"));
    let expected = SEEN.iter().map(|seen| (*seen).to_owned()).chain(stale);
    let unseen: Vec<_> = expected.filter(|seen| !told.contains_key(seen)).collect();
    assert!(walks < WALKS || unseen.is_empty(), "seed {seed}: never seen: {unseen:?} in {told:#?}");
}
