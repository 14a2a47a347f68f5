//! `ReportProgress`: what the job says of itself is shown. Display only.

use protocol::{Action, Token};

use crate::dragonfly::actions::token;
use crate::dragonfly::batch::Rows;
use crate::dragonfly::events::{Head, Note};
use crate::dragonfly::reply::{Fields, Read};
use crate::dragonfly::script::Script;
use crate::dragonfly::wakes::Wakes;
use crate::dragonfly::words::Words;
use crate::{ReportProgress, Wake};

#[doc(alias = "ReportProgress")]
pub(in crate::dragonfly) struct ReportProgressRows;

impl Rows for ReportProgressRows {
    type Request = ReportProgress;
    type Effect = ();
    type Found = Option<Token>;

    const SCRIPT: Script = Script::ReportProgress;
    const DOING: &'static str = "report progress";

    fn pack(chunk: &[ReportProgress], words: &mut Words) {
        for one in chunk {
            words.id(one.job.0);
            words.id(one.attempt.0);
            words.id(one.worker.0);
            words.json(&one.progress);
        }
    }

    fn found(fields: &mut Fields, _: bool) -> Read<Option<Token>> {
        token(fields)
    }

    fn note<'a>(request: &'a ReportProgress, token: &Option<Token>) -> Option<Note<'a>> {
        Some(Note {
            attempt: Some(request.attempt),
            token: *token,
            worker: Some(request.worker),
            judged: &request.judged,
            ..Note::of(Action::ReportProgress, request.job)
        })
    }

    fn effect(_: &ReportProgress, _: Option<Token>, _: &Head) {}

    fn wakes(request: &ReportProgress, _: &Option<Token>, wakes: &mut Wakes) {
        wakes.wake(Wake::Progress(request.job));
    }
}
