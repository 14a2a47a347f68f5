//! Which law is in force: a module, and, to show that a test can fail, a law with a piece taken out.

use super::constants::Constants;
use crate::action::Action;
use crate::guard::Guard;

/// Which of the two modules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Module {
    /// One step reads both stores.
    Remora,
    /// The stores are read and written in separate steps.
    TwoStores,
}

impl Module {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Remora, Self::TwoStores];

    /// The spec's name.
    #[must_use]
    pub fn spec_name(self) -> &'static str {
        match self {
            Self::Remora => "Remora",
            Self::TwoStores => "TwoStores",
        }
    }
}

/// Whether things that the modules allow once may happen again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Once {
    /// One loss or false suspicion in all, each link once: keeps the model finite.
    Bounded,
    /// As often as they happen: what the audit of a running program needs.
    Lifted,
}

/// What `ReapObserve` asks of the reservation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ReaperJudgement {
    /// `reservation[j] # attemptWorker[a]`: what a reaper can see. The law.
    OwnReservation,
    /// `attemptState[a] # AttemptAuthorized \/ reservation[j] = NoWorker`: what `Remora` asks, put in
    /// its place to show that it is not enough for two stores.
    AnyReservation,
}

/// The law in force, in full by default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Rules {
    /// The module.
    pub module: Module,
    /// The once-only bounds.
    pub once: Once,
    /// The reaper's question.
    pub reaper: ReaperJudgement,
    dropped: [Option<(Action, Guard)>; 2],
    disabled: u64,
}

impl Rules {
    /// The whole law of a module.
    #[must_use]
    pub const fn of(module: Module) -> Self {
        Self {
            module,
            once: Once::Bounded,
            reaper: ReaperJudgement::OwnReservation,
            dropped: [None; 2],
            disabled: 0,
        }
    }

    /// `TwoStores` as a running program is held to it.
    #[must_use]
    pub const fn audit() -> Self {
        let mut rules = Self::of(Module::TwoStores);
        rules.once = Once::Lifted;
        rules
    }

    /// The same law without one conjunct of one action. Two can be taken out; a third replaces the second.
    #[must_use]
    pub const fn without(mut self, action: Action, guard: Guard) -> Self {
        let place = if self.dropped[0].is_none() { 0 } else { 1 };
        self.dropped[place] = Some((action, guard));
        self
    }

    /// The same law without an action.
    #[must_use]
    pub const fn without_action(mut self, action: Action) -> Self {
        self.disabled |= 1 << action as u64;
        self
    }

    /// The same law with another question of the reaper.
    #[must_use]
    pub const fn with_reaper(mut self, reaper: ReaperJudgement) -> Self {
        self.reaper = reaper;
        self
    }

    /// Whether this conjunct is taken out.
    #[must_use]
    pub fn drops(&self, action: Action, guard: Guard) -> bool {
        self.dropped.contains(&Some((action, guard)))
    }

    /// Whether the action can happen at all.
    #[must_use]
    pub fn allows(&self, action: Action) -> bool {
        let of_module = !action.only_two_stores() || self.module == Module::TwoStores;
        of_module && self.disabled & 1 << action as u64 == 0
    }
}

/// A law and its bounds: what every guard and effect may look at beside the state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Law {
    /// The law.
    pub rules: Rules,
    /// The bounds.
    pub constants: Constants,
}

impl Law {
    /// The whole law of a module within bounds.
    #[must_use]
    pub const fn of(module: Module, constants: Constants) -> Self {
        Self { rules: Rules::of(module), constants }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::fixture::{J, W, World};
    use crate::machine::rows::{LinkState, Service};
    use crate::machine::{Move, moves};

    #[test]
    fn remora_has_thirty_actions_and_two_stores_six_more() {
        let count = |module| Action::ALL.into_iter().filter(|one| Rules::of(module).allows(*one)).count();
        assert_eq!((count(Module::Remora), count(Module::TwoStores)), (30, 36));
    }

    #[test]
    fn an_action_taken_out_is_not_listed() {
        let mut world = World::reserved();
        assert!(moves(&world.law, &world.state).contains(&Move::FalseSuspicion(J)));
        world.law.rules = world.law.rules.without_action(Action::FalseSuspicion);
        assert!(!moves(&world.law, &world.state).contains(&Move::FalseSuspicion(J)));
    }

    #[test]
    fn the_audit_allows_again_what_the_model_allows_once() {
        let mut world = World::reserved().with(|w| {
            w.state.coordination_lost_once = true;
            w.worker().links[Service::Durable.index()] = LinkState::Recovered;
        });
        let again =
            [Move::LoseCoordinationState, Move::FalseSuspicion(J), Move::DropLink(W, Service::Durable)];
        for step in again {
            assert!(step.spec_guard(&world.law, &world.state).is_err(), "{step}");
        }
        world.law.rules = Rules::audit();
        for step in again {
            assert_eq!(step.spec_guard(&world.law, &world.state), Ok(()), "{step}");
        }
    }
}
