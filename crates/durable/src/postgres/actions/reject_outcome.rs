//! `RejectOutcome`: the refused answer of `AcceptSuccess` and `AcceptFailure`.

use protocol::{Action, Event, Guard, Outcome};

use crate::Ended;
use crate::postgres::entry::{Decision, Entry, Seen};

/// Refuses an outcome. The trace gets both: which action was refused and by what, and that the outcome is settled.
#[doc(alias = "RejectOutcome")]
pub(super) fn reject_outcome(entry: Entry<'_>, seen: Option<Seen>, guard: Guard) -> Decision<Ended> {
    let mut decided = entry.refused(seen, guard)?;
    let settle =
        |event: &Event| Event { action: Action::RejectOutcome, outcome: Outcome::Taken, ..event.clone() };
    let settled: Vec<Event> = decided.events.iter().map(settle).collect();
    decided.events.extend(settled);
    Ok(decided)
}
