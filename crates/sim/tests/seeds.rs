//! Seeds that everybody lives, and faults that are found.

use remora_sim::{Options, Planted, command, live, run, seed_of_commit, shrink};

/// How many seeds CI lives; `REMORA_SIM_SEEDS` for another number.
const SEEDS: u64 = 500;
/// A planted fault is found within so many.
const FOUND_WITHIN: u64 = 200;

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

/// They begin where the commit says; `REMORA_SEED` for another beginning.
#[test]
fn five_hundred_seeds_are_right() {
    let options = Options::default();
    let first = number("REMORA_SEED").unwrap_or_else(seed_of_commit);
    let seeds = number("REMORA_SIM_SEEDS").unwrap_or(SEEDS);
    println!("{seeds} seeds from {first} on: cargo xtask sim --seed {first} --seeds {seeds}");
    let sum = live(first, seeds, 2, &options);
    let Some((seed, wrong)) = sum.failed.first() else {
        assert_eq!(sum.runs, seeds);
        assert!(sum.attempts > seeds * 5, "something was done: {sum:?}");
        return;
    };
    let (smaller, outcome) = shrink(*seed, &options);
    panic!(
        "seed {seed}: {wrong:?}\n\n{}\n{:?}\n\nto repeat it: {}\nthe shortest story found: {}",
        outcome.table(),
        outcome.wrong,
        command(*seed, &options),
        command(*seed, &smaller)
    );
}

#[test]
fn the_same_seed_is_the_same_run_event_by_event() {
    let options = Options::default();
    for seed in 1..=20 {
        let (one, other) = (run(seed, &options), run(seed, &options));
        assert_eq!(one.digest(), other.digest(), "seed {seed}");
        assert!(one.events > 20, "seed {seed} has {} events", one.events);
    }
    assert_ne!(run(1, &options).digest(), run(2, &options).digest());
}

/// Each planted fault is found.
fn finds(planted: Planted) {
    let options = Options { planted: Some(planted), ..Options::default() };
    let sum = live(1, FOUND_WITHIN, 2, &options);
    let Some((seed, _)) = sum.failed.first() else {
        panic!("{} was not found within {FOUND_WITHIN} seeds", planted.name());
    };
    let without = run(*seed, &Options::default());
    assert!(without.wrong.is_empty(), "seed {seed} also fails without it: {:?}", without.wrong);
}

macro_rules! each_is_found {
    ($($test:ident $fault:ident,)*) => {
        $(
            #[test]
            fn $test() {
                finds(Planted::$fault);
            }
        )*

        #[test]
        fn every_planted_fault_has_a_test() {
            assert_eq!([$(Planted::$fault),*].as_slice(), Planted::ALL);
        }
    };
}

each_is_found! {
    a_result_published_without_its_token_is_found SuccessWithoutToken,
    a_zombies_checkpoint_is_found CheckpointWithoutToken,
    a_checkpoint_acknowledged_and_not_stored_is_found CheckpointForgotten,
    a_reaper_that_names_the_job_only_is_found ReapByJob,
    a_token_given_twice_is_found TokenReused,
    a_cancel_acknowledged_and_forgotten_is_found CancelForgotten,
    a_cancel_after_the_result_was_published_is_found CancelAfterPublish,
    a_running_job_enqueued_is_found EnqueueOfRunning,
    a_row_of_the_outbox_that_is_skipped_is_found OutboxRowSkipped,
    a_sweep_of_a_living_stage_is_found SweepOfLiveStage,
    a_sweep_that_keeps_nothing_is_found SweepKeepsNothing,
    a_lease_kept_by_the_workers_name_is_found LeaseByName,
    a_lease_released_twice_is_found ReleaseTwice,
    a_zombies_release_that_ends_its_successors_lease_is_found ReleaseByJob,
    an_activation_without_a_permit_is_found ActivateWithoutPermit,
    a_reaper_that_judges_from_silence_is_found ReapFromSilence,
    a_limit_that_coordination_does_not_know_is_found LimitForgotten,
    a_result_published_before_it_was_written_is_found PublishBeforeComplete,
}
