//! Time passes for every live lease below the limit. Driven by the world.
//!
//! Real durations refine this bounded age.

use crate::guard::Guard;
use crate::machine::conjunct::Conjunct;
use crate::machine::rows::{AttemptRow, LeaseState};
use crate::machine::rules::Law;
use crate::machine::state::State;

/// What it needs, in the spec's order.
pub static GUARDS: &[Conjunct<()>] =
    &[Conjunct::here(Guard::SomeLeaseAges, |law, s, _| s.attempts.iter().any(|row| ages(law, row)))];

/// Its effect, and nothing else.
#[doc(alias = "Tick")]
pub fn tick(law: &Law, s: &mut State, (): ()) {
    for row in &mut s.attempts {
        if ages(law, row) {
            row.lease_age += 1;
        }
    }
}

fn ages(law: &Law, row: &AttemptRow) -> bool {
    row.lease_state == LeaseState::Live && row.lease_age < law.constants.lease_limit
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Move;
    use crate::machine::fixture::World;

    #[test]
    fn it_needs_every_conjunct_and_a_refusal_names_the_false_one() {
        let step = Move::Tick;
        World::executing().needs(step, &[(Guard::SomeLeaseAges, |w| w.attempt().lease_age = 1)]);
    }
}
