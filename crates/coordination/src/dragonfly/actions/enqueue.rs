//! `Enqueue`: a row of the outbox, read a moment ago, becomes a queue entry.

use std::collections::BTreeMap;

use protocol::{Action, Window};

use crate::dragonfly::batch::Rows;
use crate::dragonfly::events::{Head, Note};
use crate::dragonfly::reply::{Fields, Read};
use crate::dragonfly::script::Script;
use crate::dragonfly::wakes::Wakes;
use crate::dragonfly::words::{Words, place, serves_all, serves_queue, window_text};
use crate::{Enqueue, Enqueued, Wake};

#[doc(alias = "Enqueue")]
pub(in crate::dragonfly) struct EnqueueRows;

impl Rows for EnqueueRows {
    type Request = Enqueue;
    type Effect = Enqueued;
    /// Entries in the window now.
    type Found = usize;

    const SCRIPT: Script = Script::Enqueue;
    const DOING: &'static str = "enqueue jobs";

    fn pack(chunk: &[Enqueue], words: &mut Words) {
        let mut numbers: BTreeMap<&Window, usize> = BTreeMap::new();
        let mut windows = Vec::new();
        for one in chunk {
            numbers.entry(&one.window).or_insert_with(|| {
                windows.push(&one.window);
                windows.len()
            });
        }
        words.number(windows.len());
        for window in windows {
            words.text(window_text(window));
            words.text(serves_all(&window.kind));
            words.text(serves_queue(&window.kind, &window.queue));
        }
        for one in chunk {
            words.id(one.job.0);
            words.number(numbers[&one.window]);
            words.text(place(one.position));
            words.number(one.checkpoint_revision);
        }
    }

    fn found(fields: &mut Fields, taken: bool) -> Read<usize> {
        if taken { fields.take()?.number() } else { Ok(0) }
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
