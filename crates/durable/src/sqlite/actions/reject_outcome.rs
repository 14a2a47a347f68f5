//! `RejectOutcome`: the refused answer of `AcceptSuccess` and `AcceptFailure`.

use protocol::{Action, Event, Guard, Outcome};

use crate::Ended;
use crate::sqlite::transaction::{Decision, Entry, Seen, Transaction};

/// Refuses an outcome. The trace gets both: which action was refused and by what, and that the outcome is settled.
#[doc(alias = "RejectOutcome")]
pub(super) fn reject_outcome(
    transaction: &Transaction<'_>,
    entry: Entry<'_>,
    seen: Option<Seen>,
    guard: Guard,
) -> Decision<Ended> {
    let mut decided = entry.refused(transaction, seen, guard)?;
    let settled: Vec<Event> = decided
        .events
        .iter()
        .map(|event| Event { action: Action::RejectOutcome, outcome: Outcome::Taken, ..event.clone() })
        .collect();
    decided.events.extend(settled);
    Ok(decided)
}
