//! The machine is the spec: a complete search finds the numbers that TLC published.
//!
//! Here the bounds that a test build searches in seconds; `cargo xtask model NAME` does the others.

use protocol::{Action, Guard};
use remora_model::{Named, check_liveness, explore, story};

#[track_caller]
fn finds_what_is_published(name: &str) {
    let bounds = Named::find(name).expect("a published name");
    let explored = explore(&bounds.law, usize::MAX).expect("published bounds are small");
    let report = &explored.report;
    assert_eq!(report.violated, None);
    let counts = (Some(report.distinct), Some(report.depth), Some(report.generated));
    assert_eq!(counts, (bounds.distinct, bounds.depth, bounds.generated));
    if bounds.liveness {
        let broken = check_liveness(&explored).map(|lasso| story::of_lasso(&bounds.law, &lasso));
        assert_eq!(broken, None);
    }
}

#[test]
fn one_job_one_attempt_without_faults() {
    finds_what_is_published("a1");
}

#[test]
fn one_job_two_attempts_without_faults() {
    finds_what_is_published("a2");
}

#[test]
fn one_job_two_attempts_with_coordination_faults() {
    finds_what_is_published("b1");
}

#[test]
fn two_stores_with_coordination_faults() {
    finds_what_is_published("t1");
}

#[test]
fn without_the_rules_of_the_corridor_nobody_can_move() {
    let bounds = Named::find("corridor-small").unwrap();
    let explored = explore(&bounds.law, usize::MAX).unwrap();
    assert_eq!(explored.report.violated, None);
    let lasso = check_liveness(&explored).unwrap();
    let story = story::of_lasso(&bounds.law, &lasso);
    assert_eq!(Some(lasso.property), bounds.violated.as_deref(), "{story}");
    assert!(story.contains("permit held by w2"), "{story}");
    assert!(story.contains("Authorized on w1, without a lease"), "{story}");
    assert!(story.contains("and there it stays"), "{story}");
}

#[test]
fn two_searches_find_the_same_violation_by_the_same_way() {
    let mut law = Named::find("b1").unwrap().law;
    law.rules = law.rules.without(Action::RequestCancel, Guard::Cancellable);
    let found = || explore(&law, usize::MAX).unwrap().report.violated;
    assert!(found().is_some());
    assert_eq!(found(), found());
}
