//! A sweep has visited the stage of an ended attempt. The target does not record, so `CleanupStage` is recorded here,
//! where its cleaner reports.

use protocol::{Action as Name, Detail, Event, Judged, Mark, Outcome, Room, Stamped, Token};
use tokio_postgres::Row;

use crate::StageSwept;
use crate::postgres::batch::{Action, Key};
use crate::postgres::column;
use crate::postgres::entry::{Asker, Decided, Decision, mark};
use crate::postgres::params::Params;
use crate::postgres::statements::Statements;

/// The report.
#[doc(alias = "CleanupStage")]
pub(in crate::postgres) struct Sweeps;

impl Action for Sweeps {
    type Request = StageSwept;
    type Effect = ();
    const DOING: &'static str = "record sweeps";
    const MOVES: bool = false;

    fn text(statements: &Statements) -> &str {
        &statements.stages_swept
    }

    fn keys(request: &StageSwept) -> Vec<Key<'_>> {
        vec![Key::Id(request.attempt.0)]
    }

    fn params(_: Option<i64>, rows: &[&StageSwept]) -> Result<Params, String> {
        Ok(Params::new()
            .ids(rows.iter().map(|row| row.job.to_bytes()))
            .ids(rows.iter().map(|row| row.attempt.to_bytes()))
            .bools(rows.iter().map(|row| row.kept)))
    }

    fn decide(asker: Asker<'_>, request: &StageSwept, row: &Row) -> Decision<()> {
        let answer = Stamped::taken(Mark::default(), ());
        let events = match column::maybe_count(row, "revision")? {
            Some(revision) if asker.recording => {
                vec![cleanup(asker, request, column::token(row, "token")?, revision)]
            }
            _ => Vec::new(),
        };
        Ok(Decided { answer, events })
    }
}

/// What the trace says of it. A sweep of what is published takes away only what the result does not need: that is no
/// action of the spec.
fn cleanup(asker: Asker<'_>, request: &StageSwept, token: Token, revision: u64) -> Event {
    let origin = asker.origin;
    Event {
        room: Room::Target,
        epoch: 0,
        order: origin.sequence,
        action: Name::CleanupStage,
        outcome: Outcome::Taken,
        job: Some(request.job),
        token: Some(token),
        attempt: Some(request.attempt),
        actor: origin.actor,
        sequence: origin.sequence,
        sent_after: origin.sent_after,
        answered_before: None,
        detail: Detail::default(),
        // Not the moment that the sweep was judged at, but a later one at which all that it rests on still holds.
        judged: vec![Judged::durable(mark(revision))],
    }
}
