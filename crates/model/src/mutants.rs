//! The law with one piece taken out, to show that the properties notice.
//!
//! Promises: a mutant exists for every conjunct of every action in every module that asks it, for each of the two
//! hand-back rules, and for the reaper's question. `spec/mutants.toml` says of each what fails without it, within
//! which bounds, or why nothing does.
//! Does not mutate effects: their equality with the spec is shown by the state counts.

use std::fmt;
use std::sync::LazyLock;

use protocol::machine::instance::outline;
use protocol::machine::{Law, Module, ReaperJudgement, Rules};
use protocol::{Action, Guard};

use crate::bounds::{self, BadBounds, Named};
use crate::explore::explore;
use crate::liveness::check_liveness;
use crate::packed::TooWide;

/// What is taken out of an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// One conjunct.
    Without(Guard),
    /// All of it.
    Removed,
    /// The reaper asks what `Remora`'s asks.
    AnyReservation,
}

/// A law with a piece taken out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mutant {
    /// Of which module.
    pub module: Module,
    /// In which action.
    pub action: Action,
    /// What.
    pub change: Change,
}

impl fmt::Display for Mutant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.", self.module.spec_name(), self.action.spec_name())?;
        match self.change {
            Change::Without(guard) => f.write_str(guard.name()),
            Change::Removed => f.write_str("removed"),
            Change::AnyReservation => f.write_str("any_reservation"),
        }
    }
}

impl Mutant {
    /// All of them, action by action.
    #[must_use]
    pub fn all() -> Vec<Self> {
        let mut all = Vec::new();
        for module in Module::ALL {
            for action in Action::ALL.into_iter().filter(|action| Rules::of(module).allows(*action)) {
                let asked = outline(action).into_iter();
                let asked = asked.filter(|line| line.module.is_none_or(|only| only == module));
                all.extend(asked.map(|line| Self { module, action, change: Change::Without(line.guard) }));
                if matches!(action, Action::ClaimRefused | Action::ActivateRefused) {
                    all.push(Self { module, action, change: Change::Removed });
                }
                if action == Action::ReapObserve {
                    all.push(Self { module, action, change: Change::AnyReservation });
                }
            }
        }
        all
    }

    /// The changed law within bounds, which may leave actions out to be smaller.
    #[must_use]
    pub fn law(self, bounds: &Law) -> Law {
        let rules = bounds.rules;
        let rules = match self.change {
            Change::Without(guard) => rules.without(self.action, guard),
            Change::Removed => rules.without_action(self.action),
            Change::AnyReservation => rules.with_reaper(ReaperJudgement::AnyReservation),
        };
        Law { rules, ..*bounds }
    }
}

/// What is known of a mutant.
#[derive(Debug, Clone)]
pub struct Verdict {
    /// The mutant's name.
    pub name: String,
    /// The bounds to search.
    pub bounds: String,
    /// The property that fails.
    pub fails: Option<String>,
    /// Why none does.
    pub survives: Option<String>,
}

/// The table of `spec/mutants.toml`: small bounds, then what is known of each mutant.
#[derive(Debug)]
pub struct Table {
    /// Bounds small enough for every test run.
    pub bounds: Vec<Named>,
    /// One verdict for each mutant.
    pub verdicts: Vec<Verdict>,
}

/// The table as it stands.
pub static TABLE: LazyLock<Table> = LazyLock::new(|| {
    Table::parse(include_str!("../../../spec/mutants.toml")).expect("spec/mutants.toml is well formed")
});

impl Table {
    fn parse(text: &str) -> Result<Self, BadBounds> {
        let (bounds, mutants) = text.split_once("\n# Mutants").unwrap_or((text, ""));
        let mut verdicts: Vec<Verdict> = Vec::new();
        for line in mutants.lines() {
            if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
                let name = name.to_owned();
                verdicts.push(Verdict { name, bounds: String::new(), fails: None, survives: None });
            } else if let (Some((key, value)), Some(last)) = (line.split_once(" = "), verdicts.last_mut()) {
                let value = value.trim_matches('"').to_owned();
                match key {
                    "bounds" => last.bounds = value,
                    "fails" => last.fails = Some(value),
                    "survives" => last.survives = Some(value),
                    other => return Err(BadBounds { name: last.name.clone(), key: other.to_owned() }),
                }
            }
        }
        Ok(Self { bounds: bounds::parse(bounds)?, verdicts })
    }

    /// The small bounds of that name.
    #[must_use]
    pub fn bounds(&self, name: &str) -> Option<&Named> {
        self.bounds.iter().find(|bounds| bounds.name == name)
    }
}

/// What a search of a law found, as far as mutants are compared by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Findings {
    /// The first property that fails: of states and steps first, then of whole behaviours if the search was
    /// complete.
    pub failure: Option<&'static str>,
    /// Distinct states, up to the limit.
    pub distinct: u64,
    /// States generated, up to the limit.
    pub generated: u64,
}

/// Searches up to `most` states of a law.
///
/// # Errors
/// When the bounds are too wide.
pub fn search(law: &Law, most: usize) -> Result<Findings, TooWide> {
    let explored = explore(law, most)?;
    let report = &explored.report;
    let failure = match &report.violated {
        Some(found) => Some(found.property),
        None if explored.is_complete() => check_liveness(&explored).map(|lasso| lasso.property),
        None => None,
    };
    Ok(Findings { failure, distinct: report.distinct, generated: report.generated })
}
