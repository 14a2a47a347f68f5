//! `ReportProgress`: what the job says of itself is shown. Display only.

use crate::postgres::batch::Rows;
use crate::postgres::desk::json;
use crate::postgres::params::Params;
use crate::postgres::reply::{Read, Step, token};
use crate::postgres::statements::Statements;
use crate::remote::events::{Head, Note};
use crate::remote::wakes::Wakes;
use crate::{ReportProgress, Wake};
use protocol::{Action, Token, job, limit};

#[doc(alias = "ReportProgress")]
pub(in crate::postgres) struct ReportProgressRows;

impl Rows for ReportProgressRows {
    type Request = ReportProgress;
    type Effect = ();
    type Found = Option<Token>;

    const DOING: &'static str = "report progress";

    fn call(statements: &Statements) -> &str {
        &statements.report_progress
    }

    fn pack(chunk: &[&ReportProgress], params: Params) -> Params {
        params
            .ids(chunk.iter().map(|one| one.job.to_bytes()))
            .ids(chunk.iter().map(|one| one.attempt.to_bytes()))
            .ids(chunk.iter().map(|one| one.worker.to_bytes()))
            .texts(chunk.iter().map(|one| Some(json(&one.progress))))
    }

    fn unfit(request: &ReportProgress) -> Option<String> {
        let message = request.progress.message.as_ref().map_or(0, String::len);
        let over = job::check_size("message", message, limit::PROGRESS_MESSAGE_BYTES);
        over.err().map(|violation| violation.to_string())
    }

    fn found(step: &Step) -> Read<Option<Token>> {
        token(&step.row)
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
