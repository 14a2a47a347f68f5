//! Every property can fail: for each piece taken out of the law, `spec/mutants.toml` says what does.

use std::collections::{BTreeMap, BTreeSet};

use protocol::{Action, Guard};
use remora_model::mutants::{Findings, Mutant, TABLE, search};

/// States in one search: enough for every mutant of the table, few enough for every test run.
const ENOUGH: usize = 50_000;

#[test]
fn every_mutant_is_in_the_table_once_with_a_failure_or_a_reason() {
    let mutants: Vec<_> = Mutant::all().iter().map(ToString::to_string).collect();
    let named: Vec<_> = TABLE.verdicts.iter().map(|verdict| verdict.name.clone()).collect();
    assert_eq!(named, mutants);
    for verdict in &TABLE.verdicts {
        let name = &verdict.name;
        assert!(TABLE.bounds(&verdict.bounds).is_some(), "{name}: bounds {}", verdict.bounds);
        assert!(verdict.fails.is_some() != verdict.survives.is_some(), "{name}");
    }
}

/// What the whole law shows within each of the small bounds.
fn whole() -> BTreeMap<&'static str, Findings> {
    let found = |law| search(law, ENOUGH).expect("small bounds");
    TABLE.bounds.iter().map(|bounds| (bounds.name.as_str(), found(&bounds.law))).collect()
}

#[test]
fn the_whole_law_fails_nowhere_and_every_mutant_where_the_table_says_or_not_at_all() {
    let whole = whole();
    for (name, found) in &whole {
        assert_eq!(found.failure, None, "{name}");
    }
    let mut wrong = Vec::new();
    for (mutant, verdict) in Mutant::all().into_iter().zip(&TABLE.verdicts) {
        let bounds = TABLE.bounds(&verdict.bounds).expect("the other test looks for it");
        let found = search(&mutant.law(&bounds.law), ENOUGH).expect("small bounds");
        if found.failure != verdict.fails.as_deref() {
            wrong.push(format!("{mutant} in {}: {:?}", bounds.name, found.failure));
        }
        // Two kinds of reason can be checked: the same steps, or at least the same states.
        let reason = verdict.survives.as_deref().unwrap_or("");
        let law = whole[bounds.name.as_str()];
        if reason.starts_with("implied") && found != law
            || reason.starts_with("no new state") && found.distinct != law.distinct
        {
            wrong.push(format!("{mutant} in {}: {reason}, but {found:?} beside {law:?}", bounds.name));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn two_locks_on_one_door_must_both_be_taken_off() {
    // The first of each pair is implied by the second, and so survives alone.
    let running_or_cancelled = |action| [(action, Guard::PhaseRunning), (action, Guard::NotCancelRequested)];
    let whole = [(Action::AcceptSuccess, Guard::StageComplete), (Action::SendOutcome, Guard::StageComplete)];
    let doors = [
        ("r-one", running_or_cancelled(Action::AcceptSuccess)),
        ("t-one", running_or_cancelled(Action::AcceptSuccess)),
        ("r-one", running_or_cancelled(Action::AcceptFailure)),
        ("t-one", running_or_cancelled(Action::AcceptFailure)),
        ("r-one", whole),
        ("t-one", whole),
    ];
    for (name, locks) in doors {
        let mut law = TABLE.bounds(name).expect("small bounds").law;
        for (action, guard) in locks {
            law.rules = law.rules.without(action, guard);
        }
        let found = search(&law, ENOUGH).expect("small bounds");
        assert!(found.failure.is_some(), "{name}: {locks:?}");
    }
}

#[test]
fn some_mutant_breaks_each_property_that_one_row_can_break() {
    let broken: BTreeSet<_> = TABLE.verdicts.iter().filter_map(|verdict| verdict.fails.as_deref()).collect();
    let wanted =
        ["CommitLinearizationStep", "EventuallyTerminal", "PermitSafety", "ResumeValidity", "TerminalStep"];
    for property in wanted {
        assert!(broken.contains(property), "{property}: {broken:?}");
    }
}
