//! Reporting how an attempt ended: `SendOutcome`, then the one durable answer.

use std::slice;

use durable::{AcceptFailure, AcceptSuccess, Ended, FinalizeCancel, ProgramExit, ResultRecord};
use protocol::{Action, Detail, FailureCause, Fault, Guard, Mark, Stamped, Step, limit};
use target::{Digest, Manifest};

use crate::attempt::describe;
use crate::control::{AttemptControl, Stop, document};
use crate::handler::Ending;
use crate::stage::StageError;

/// What came of the report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Reported {
    /// The durable answer's mark: later requests rest on it.
    pub(crate) mark: Option<Mark>,
    /// Whether the job's row changed.
    pub(crate) changed: bool,
}

impl Reported {
    const NOTHING: Self = Self { mark: None, changed: false };
}

/// Reports an ending and answers when the durable room has.
#[doc(alias = "SendOutcome")]
pub(crate) async fn report(control: &AttemptControl, ending: Ending) -> Reported {
    control.end_checkpoints().await;
    if matches!(ending, Ending::Stopped(Stop::Cancel | Stop::LeaseLost)) {
        control.session.held.has_stopped(control.attempt());
        note(control, Action::CooperativeStop, Detail::default());
    }
    let answer = match ending {
        Ending::Done => succeed(control).await,
        Ending::Failed { cause, error, exit } => fail(control, cause, error, exit).await,
        Ending::Stopped(Stop::Cancel) => finalize_cancel(control).await,
        Ending::Stopped(Stop::Drain) => {
            let text = "the worker was told to stop before the job ended";
            fail(control, FailureCause::Drained, text.to_owned(), None).await
        }
        // Authority is gone or about to be: the reaper ends it.
        Ending::Stopped(_) => Ok(Reported::NOTHING),
    };
    answer.unwrap_or_else(|fault| {
        tracing::warn!(job = %control.job(), attempt = %control.attempt(), error = %describe(&fault), "no verdict recorded");
        Reported::NOTHING
    })
}

fn note(control: &AttemptControl, action: Action, detail: Detail) {
    control.session.record(action, Some(control.stage()), detail, Vec::new());
}

#[doc(alias = "AcceptSuccess")]
async fn succeed(control: &AttemptControl) -> Result<Reported, Fault> {
    let record = match publishable(control).await {
        Ok(record) => record,
        Err(error) => {
            let cause = if error.is_permanent() { FailureCause::Permanent } else { FailureCause::Failed };
            return fail(control, cause, describe(&error), None).await;
        }
    };
    // All is written: only now is the stage complete and a success on its way.
    note(control, Action::AdvanceAttempt, Detail::default());
    note(control, Action::SendOutcome, Detail::default());
    let request = AcceptSuccess {
        job: control.job(),
        attempt: control.attempt(),
        token: control.token(),
        result: record,
    };
    let sent = control.session.caller.send();
    let answer = ask(control, "publish a result", || {
        sent.of(control.session.rooms.durable.accept_success(&sent.origin, slice::from_ref(&request)))
    })
    .await?;
    settle_refusal(control, answer).await
}

/// Seals everything once more, lays the result out, and describes it.
async fn publishable(control: &AttemptControl) -> Result<ResultRecord, StageError> {
    let stage = control.stage();
    let mut sealing = control.sealing.lock().await;
    let manifest = sealing.output.seal(true).await?;
    let laid = if manifest.entries.is_empty() {
        Manifest::default()
    } else {
        control.session.rooms.target.lay_out(&stage, &manifest).await?
    };
    let bytes = laid.encode()?;
    let digest = Digest::of(&bytes);
    let mut parts = Vec::new();
    let document = document(&mut sealing.output, bytes, &mut parts).await?;
    if !parts.is_empty() {
        control.session.rooms.target.settle(&stage).await?;
    }
    Ok(ResultRecord { manifest: document, digest: digest.0, files: laid.files(), bytes: laid.bytes() })
}

#[doc(alias = "AcceptFailure")]
async fn fail(
    control: &AttemptControl,
    cause: FailureCause,
    error: String,
    exit: Option<ProgramExit>,
) -> Result<Reported, Fault> {
    note(control, Action::SendOutcome, Detail { cause: Some(cause), ..Detail::default() });
    let request = AcceptFailure {
        job: control.job(),
        attempt: control.attempt(),
        token: control.token(),
        cause,
        error: storable(error),
        exit,
        chance: control.session.runtime.rng.next_u64(),
    };
    let sent = control.session.caller.send();
    let answer = ask(control, "record a failure", || {
        sent.of(control.session.rooms.durable.accept_failure(&sent.origin, slice::from_ref(&request)))
    })
    .await?;
    settle_refusal(control, answer).await
}

/// A verdict refused because of a cancel is followed by the cancel's own end.
#[doc(alias = "RejectOutcome")]
async fn settle_refusal(control: &AttemptControl, answer: Stamped<Ended>) -> Result<Reported, Fault> {
    match answer.step {
        Step::Taken(_) => Ok(Reported { mark: Some(answer.mark), changed: true }),
        Step::Refused(Guard::PhaseRunning | Guard::NotCancelRequested) => finalize_cancel(control).await,
        Step::Refused(guard) => {
            tracing::info!(job = %control.job(), attempt = %control.attempt(), %guard, "the verdict was refused");
            Ok(Reported { mark: Some(answer.mark), changed: false })
        }
        Step::SetAside(reason) => Err(Fault::corrupt("record a verdict", reason.0)),
    }
}

#[doc(alias = "FinalizeCancel")]
async fn finalize_cancel(control: &AttemptControl) -> Result<Reported, Fault> {
    let request = FinalizeCancel { job: control.job(), attempt: control.attempt(), judged: Vec::new() };
    let sent = control.session.caller.send();
    let answer = ask(control, "finish a cancel", || {
        sent.of(control.session.rooms.durable.finalize_cancel(&sent.origin, slice::from_ref(&request)))
    })
    .await?;
    Ok(Reported { mark: Some(answer.mark), changed: matches!(answer.step, Step::Taken(_)) })
}

/// The store may be away for long: the work is done, and its verdict waits. Only the end of the lease, when
/// nobody would take it any more, ends the patience.
async fn ask<T, F>(
    control: &AttemptControl,
    doing: &str,
    request: impl FnMut() -> F + Send,
) -> Result<T, Fault>
where
    F: Future<Output = Result<Vec<T>, Fault>> + Send,
{
    let stop = control.stop();
    let over = move || *stop.borrow() == Stop::LeaseLost;
    control.session.until_one_answered(over, doing, request).await
}

/// Text that every store can hold: no NUL, cut between characters.
fn storable(text: String) -> String {
    let text = if text.contains('\0') { text.replace('\0', "␀") } else { text };
    if text.len() <= limit::ERROR_BYTES {
        return text;
    }
    let mark = " […]";
    let mut end = limit::ERROR_BYTES - mark.len();
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}{mark}", &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_text_is_cut_between_characters_and_freed_of_nul() {
        assert_eq!(storable("a\0b".into()), "a␀b");
        let long = storable("é".repeat(limit::ERROR_BYTES));
        assert!(long.len() <= limit::ERROR_BYTES && long.ends_with("é […]"));
    }
}
