//! Every property can fail: for each piece taken out of the law, `spec/mutants.toml` says what does.

use std::collections::BTreeSet;

use remora_model::mutants::{Mutant, TABLE, first_failure};

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

#[test]
fn every_mutant_fails_where_the_table_says_or_not_at_all() {
    let mut wrong = Vec::new();
    for (mutant, verdict) in Mutant::all().into_iter().zip(&TABLE.verdicts) {
        let bounds = TABLE.bounds(&verdict.bounds).expect("the other test looks for it");
        let failure = first_failure(&mutant.law(&bounds.law), ENOUGH).expect("small bounds");
        if failure != verdict.fails.as_deref() {
            wrong.push(format!("{mutant} in {}: {failure:?}, table says {:?}", bounds.name, verdict.fails));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_whole_law_fails_nowhere_in_the_small_bounds() {
    for bounds in &TABLE.bounds {
        assert_eq!(first_failure(&bounds.law, ENOUGH).expect("small bounds"), None, "{}", bounds.name);
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
