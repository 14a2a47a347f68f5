//! `Enqueue`: a row of the outbox, read a moment ago, becomes a queue entry.

use std::collections::{BTreeMap, BTreeSet};

use crate::postgres::batch::Rows;
use crate::postgres::desk::{in_order, is_text, named};
use crate::postgres::params::Params;
use crate::postgres::reply::{Read, Step};
use crate::postgres::statements::Statements;
use crate::remote::events::{Head, Note};
use crate::remote::wakes::Wakes;
use crate::{Enqueue, Enqueued, Wake};
use protocol::{Action, Window};

#[doc(alias = "Enqueue")]
pub(in crate::postgres) struct EnqueueRows;

impl Rows for EnqueueRows {
    type Request = Enqueue;
    type Effect = Enqueued;
    /// Entries in the window now.
    type Found = usize;

    const DOING: &'static str = "enqueue jobs";

    fn call(statements: &Statements) -> &str {
        &statements.enqueue
    }

    fn pack(chunk: &[&Enqueue], params: Params) -> Params {
        let windows: BTreeSet<&Window> = chunk.iter().map(|one| &one.window).collect();
        let places: BTreeMap<&Window, i32> = windows.into_iter().zip(1..).collect();
        named(places.keys().copied(), params)
            .ids(chunk.iter().map(|one| one.job.to_bytes()))
            .smalls(chunk.iter().map(|one| places[&one.window]))
            .bigs(chunk.iter().map(|one| one.position.due.0))
            .bigs(chunk.iter().map(|one| in_order(one.position.sequence)))
            .bigs(chunk.iter().map(|one| one.checkpoint_revision.cast_signed()))
    }

    fn unfit(request: &Enqueue) -> Option<String> {
        let window = &request.window;
        let fits = is_text(&window.queue) && is_text(&window.kind);
        (!fits).then(|| "a name of a window holds a character that PostgreSQL cannot".to_owned())
    }

    fn found(step: &Step) -> Read<usize> {
        let entries: Option<i32> = pg::get(&step.row, "entries")?;
        Ok(entries.and_then(|entries| usize::try_from(entries).ok()).unwrap_or(0))
    }

    fn note<'a>(request: &'a Enqueue, _: &usize) -> Option<Note<'a>> {
        Some(Note {
            checkpoint_revision: Some(request.checkpoint_revision),
            judged: &request.judged,
            ..Note::of(Action::Enqueue, request.job)
        })
    }

    fn effect(_: &Enqueue, entries: usize, _: &Head) -> Enqueued {
        Enqueued { entries }
    }

    fn wakes(request: &Enqueue, _: &usize, wakes: &mut Wakes) {
        wakes.wake(Wake::Queued(request.window.clone()));
    }
}
