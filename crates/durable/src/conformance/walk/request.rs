//! Requests as they are sent, kept so that they can be sent again, and answers as they are compared.

use std::fmt::Debug;

use protocol::{Origin, Stamped, Step};

use crate::{
    AcceptFailure, AcceptSuccess, AuthorizeAttempt, Configure, DurableRoom, FinalizeCancel,
    InvalidateCheckpoint, PersistCheckpoint, RaiseEpoch, ReapLostAttempt, RequestCancel, Retry,
    ScheduleRetry, StageSwept, Submit,
};

/// A request of the port.
#[derive(Debug, Clone)]
pub(super) enum Request {
    Submit(Submit),
    AuthorizeAttempt(AuthorizeAttempt),
    PersistCheckpoint(PersistCheckpoint),
    AcceptSuccess(AcceptSuccess),
    AcceptFailure(AcceptFailure),
    ReapLostAttempt(ReapLostAttempt),
    ScheduleRetry(ScheduleRetry),
    RequestCancel(RequestCancel),
    FinalizeCancel(FinalizeCancel),
    InvalidateCheckpoint(InvalidateCheckpoint),
    Retry(Retry),
    StagesSwept(StageSwept),
    RaiseEpoch(RaiseEpoch),
    OpenEpoch(u64),
    Configure(Configure),
}

/// What was answered: in short, to count, and whole, to compare.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Told {
    pub(super) short: String,
    pub(super) whole: String,
}

/// The reasons of rows set aside are for people, and each adapter's own.
fn told<T: Debug>(action: &str, answers: Vec<Stamped<T>>) -> Told {
    let one = |answer: &Stamped<T>| match &answer.step {
        Step::Taken(_) => "taken",
        Step::Refused(guard) => guard.name(),
        Step::SetAside(_) => "set_aside",
    };
    let short = format!("{action} {}", answers.first().map_or("nothing", one));
    let whole: Vec<_> = answers
        .iter()
        .map(|answer| match &answer.step {
            Step::SetAside(_) => format!("{:?} set aside", answer.mark),
            step => format!("{:?} {step:?}", answer.mark),
        })
        .collect();
    Told { short, whole: whole.join("; ") }
}

impl Request {
    /// Sends it.
    pub(super) async fn send(&self, room: &dyn DurableRoom, origin: &Origin) -> Told {
        macro_rules! batch {
            ($method:ident, $request:expr) => {
                told(stringify!($method), room.$method(origin, std::slice::from_ref($request)).await.unwrap())
            };
        }
        match self {
            Self::Submit(request) => batch!(submit, request),
            Self::AuthorizeAttempt(request) => batch!(authorize_attempt, request),
            Self::PersistCheckpoint(request) => batch!(persist_checkpoint, request),
            Self::AcceptSuccess(request) => batch!(accept_success, request),
            Self::AcceptFailure(request) => batch!(accept_failure, request),
            Self::ReapLostAttempt(request) => batch!(reap_lost_attempt, request),
            Self::ScheduleRetry(request) => batch!(schedule_retry, request),
            Self::RequestCancel(request) => batch!(request_cancel, request),
            Self::FinalizeCancel(request) => batch!(finalize_cancel, request),
            Self::InvalidateCheckpoint(request) => batch!(invalidate_checkpoint, request),
            Self::Retry(request) => batch!(retry, request),
            Self::StagesSwept(report) => {
                room.stages_swept(origin, std::slice::from_ref(report)).await.unwrap();
                told::<()>("stages_swept", Vec::new())
            }
            Self::RaiseEpoch(change) => {
                told("raise_epoch", vec![room.raise_epoch(origin, change).await.unwrap()])
            }
            Self::OpenEpoch(epoch) => {
                told("open_epoch", vec![room.open_epoch(origin, *epoch).await.unwrap()])
            }
            Self::Configure(change) => {
                let row = room.configure(origin, change).await.unwrap();
                Told { short: "configure".to_owned(), whole: format!("{row:?}") }
            }
        }
    }
}
