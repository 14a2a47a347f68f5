//! `ClaimRefused`: a worker whose claim was refused hands its reservation back (rule 1). And its opposite: the worker
//! says that it still means to use it.

use protocol::{Action, JobId};

use crate::HandBack;
use crate::dragonfly::batch::Rows;
use crate::dragonfly::events::{Head, Note};
use crate::dragonfly::reply::{Fields, Read};
use crate::dragonfly::script::Script;
use crate::dragonfly::wakes::Wakes;
use crate::dragonfly::words::Words;

fn pack(chunk: &[HandBack], words: &mut Words) {
    for one in chunk {
        words.id(one.job.0);
        words.id(one.reservation.0);
        words.id(one.worker.0);
    }
}

#[doc(alias = "ClaimRefused")]
pub(in crate::dragonfly) struct ClaimRefusedRows;

impl Rows for ClaimRefusedRows {
    type Request = HandBack;
    type Effect = ();
    type Found = ();

    const SCRIPT: Script = Script::ClaimRefused;
    const DOING: &'static str = "hand reservations back";

    fn pack(chunk: &[HandBack], words: &mut Words) {
        pack(chunk, words);
    }

    fn found(_: &mut Fields, _: bool) -> Read<()> {
        Ok(())
    }

    fn note<'a>(request: &'a HandBack, (): &()) -> Option<Note<'a>> {
        let note = Note::of(Action::ClaimRefused, request.job);
        Some(Note { worker: Some(request.worker), reservation: Some(request.reservation), ..note })
    }

    fn effect(_: &HandBack, (): (), _: &Head) {}

    fn wakes(request: &HandBack, (): &(), wakes: &mut Wakes) {
        let job: JobId = request.job;
        wakes.give_back(job);
    }
}

/// Renews a reservation's deadline. No action of the spec: a deadline is what `FalseSuspicion` stands for.
pub(in crate::dragonfly) struct RenewReservationRows;

impl Rows for RenewReservationRows {
    type Request = HandBack;
    type Effect = ();
    type Found = ();

    const SCRIPT: Script = Script::RenewReservation;
    const DOING: &'static str = "renew reservations";

    fn pack(chunk: &[HandBack], words: &mut Words) {
        pack(chunk, words);
    }

    fn found(_: &mut Fields, _: bool) -> Read<()> {
        Ok(())
    }

    fn note<'a>(_: &'a HandBack, (): &()) -> Option<Note<'a>> {
        None
    }

    fn effect(_: &HandBack, (): (), _: &Head) {}
}
