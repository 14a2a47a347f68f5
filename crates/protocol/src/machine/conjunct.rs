//! One condition of one action: its name, who can see it, and how to tell.
//!
//! An action's guard is a table of these in the spec's order. Two guards are read from the same table. The
//! **spec guard** is every line of the module in force. The **room guard** is the lines that the
//! action's own room can decide: what it holds itself and what the request brings along.

use super::rules::{Law, Module};
use super::state::State;
use crate::action::Action;
use crate::guard::Guard;

/// Who can decide a condition when the action happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Seen {
    /// The room that the action writes holds it.
    Here,
    /// The request carries it: a count, a complete manifest, free slots.
    Carried,
    /// It is a fact about the sender; that the request came is all the room knows of it.
    Sender,
    /// Another room holds it; it was judged earlier and may have changed since.
    Elsewhere,
}

/// A line of a guard, about arguments of type `A`.
#[derive(Debug, Clone, Copy)]
pub struct Conjunct<A> {
    /// The name a refusal gives.
    pub guard: Guard,
    /// Who can decide it.
    pub seen: Seen,
    /// The one module that asks it, or both.
    pub module: Option<Module>,
    holds: fn(&Law, &State, A) -> bool,
}

impl<A: Copy> Conjunct<A> {
    /// The room holds it.
    pub(super) const fn here(guard: Guard, holds: fn(&Law, &State, A) -> bool) -> Self {
        Self { guard, seen: Seen::Here, module: None, holds }
    }

    /// The request carries it.
    pub(super) const fn carried(guard: Guard, holds: fn(&Law, &State, A) -> bool) -> Self {
        Self { guard, seen: Seen::Carried, module: None, holds }
    }

    /// Only the sender knows it.
    pub(super) const fn sender(guard: Guard, holds: fn(&Law, &State, A) -> bool) -> Self {
        Self { guard, seen: Seen::Sender, module: None, holds }
    }

    /// Another room holds it.
    pub(super) const fn elsewhere(guard: Guard, holds: fn(&Law, &State, A) -> bool) -> Self {
        Self { guard, seen: Seen::Elsewhere, module: None, holds }
    }

    /// Only this module asks it.
    pub(super) const fn only(mut self, module: Module) -> Self {
        self.module = Some(module);
        self
    }

    /// Whether the module asks it.
    #[must_use]
    pub fn asked_by(&self, module: Module) -> bool {
        self.module.is_none_or(|only| only == module)
    }

    /// Whether the action's own room can decide it.
    #[must_use]
    pub fn seen_by_room(&self) -> bool {
        matches!(self.seen, Seen::Here | Seen::Carried)
    }
}

/// A conjunct's outline, for tables and tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Outline {
    /// The name a refusal gives.
    pub guard: Guard,
    /// Who can decide it.
    pub seen: Seen,
    /// The one module that asks it, or both.
    pub module: Option<Module>,
}

pub(super) fn outline<A: Copy>(table: &[Conjunct<A>]) -> Vec<Outline> {
    table.iter().map(|line| Outline { guard: line.guard, seen: line.seen, module: line.module }).collect()
}

pub(super) fn spec_guard<A: Copy>(
    action: Action,
    table: &[Conjunct<A>],
    law: &Law,
    state: &State,
    of: A,
) -> Result<(), Guard> {
    for line in table {
        if line.asked_by(law.rules.module)
            && !(line.holds)(law, state, of)
            && !law.rules.drops(action, line.guard)
        {
            return Err(line.guard);
        }
    }
    Ok(())
}

pub(super) fn room_guard<A: Copy>(
    table: &[Conjunct<A>],
    law: &Law,
    state: &State,
    of: A,
) -> Result<(), Guard> {
    match table.iter().find(|line| line.seen_by_room() && !(line.holds)(law, state, of)) {
        Some(line) => Err(line.guard),
        None => Ok(()),
    }
}
