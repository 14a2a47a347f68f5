//! Requests as they are sent, kept so that they can be sent again, and answers as they are compared.

use std::fmt::Debug;

use protocol::{AttemptId, Incarnation, Stamped, Step};

use crate::{
    ActivateAttempt, At, CleanTerminal, CoordinationRoom, Enqueue, HandBack, PoolConfig, PublishCancelNotice,
    ReapObserve, Registration, ReleaseLease, ReleaseReservation, RenewLease, ReportProgress, Reserve,
    RestoreLease,
};

/// A request of the port.
#[derive(Debug, Clone)]
pub(super) enum Request {
    Enqueue(Enqueue),
    Reserve(Reserve),
    ClaimRefused(HandBack),
    ActivateAttempt(ActivateAttempt),
    RenewLease(RenewLease),
    RenewReservation(HandBack),
    ExpireLease(usize),
    DropReservation(usize),
    ReleaseReservation(ReleaseReservation),
    ReleaseLease(ReleaseLease),
    PublishCancelNotice(PublishCancelNotice),
    CleanTerminal(CleanTerminal),
    ReportProgress(ReportProgress),
    RestoreLease(RestoreLease),
    ReapObserve(ReapObserve),
    Settle(AttemptId),
    Account(Vec<AttemptId>),
    OpenEpoch,
    Configure(PoolConfig),
    Register(Registration),
    Deregister(Incarnation),
}

/// What was answered: in short, to count, and whole, to compare.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Told {
    pub(super) short: Vec<String>,
    whole: Vec<String>,
}

/// Each room counts its own steps, so order numbers are left out; a mark's epoch is not.
fn told<T: Debug>(action: &str, answers: Vec<Stamped<T>>) -> Told {
    let one = |answer: &Stamped<T>| match &answer.step {
        Step::Taken(_) => "taken",
        Step::Refused(guard) => guard.name(),
        Step::SetAside(_) => "set_aside",
    };
    Told {
        short: answers.iter().map(|answer| format!("{action} {}", one(answer))).collect(),
        whole: answers.iter().map(|answer| format!("{} {:?}", answer.mark.epoch, answer.step)).collect(),
    }
}

impl Request {
    /// Sends it.
    pub(super) async fn send(&self, room: &dyn CoordinationRoom, at: &At) -> Told {
        macro_rules! batch {
            ($method:ident, $request:expr) => {
                told(
                    stringify!($method),
                    room.$method(at, std::slice::from_ref($request)).await.expect("an answer"),
                )
            };
        }
        macro_rules! one {
            ($method:ident $(, $request:expr)?) => {
                told(stringify!($method), vec![room.$method(at $(, $request)?).await.expect("an answer")])
            };
        }
        macro_rules! all {
            ($method:ident, $request:expr) => {
                told(stringify!($method), room.$method(at, $request).await.expect("an answer"))
            };
        }
        match self {
            Self::Enqueue(request) => batch!(enqueue, request),
            Self::Reserve(request) => all!(reserve, request),
            Self::ClaimRefused(request) => batch!(claim_refused, request),
            Self::ActivateAttempt(request) => batch!(activate_attempt, request),
            Self::RenewLease(request) => batch!(renew_lease, request),
            Self::RenewReservation(request) => batch!(renew_reservation, request),
            Self::ExpireLease(limit) => all!(expire_lease, *limit),
            Self::DropReservation(limit) => all!(drop_reservation, *limit),
            Self::ReleaseReservation(request) => batch!(release_reservation, request),
            Self::ReleaseLease(request) => batch!(release_lease, request),
            Self::PublishCancelNotice(request) => batch!(publish_cancel_notice, request),
            Self::CleanTerminal(request) => batch!(clean_terminal_coordination, request),
            Self::ReportProgress(request) => batch!(report_progress, request),
            Self::RestoreLease(request) => batch!(restore_lease, request),
            Self::ReapObserve(request) => batch!(reap_observe, request),
            Self::Settle(attempt) => batch!(settle, attempt),
            Self::Account(attempts) => one!(account, attempts),
            Self::OpenEpoch => one!(open_epoch),
            Self::Configure(config) => one!(configure, config),
            Self::Register(registration) => one!(register, registration),
            Self::Deregister(worker) => {
                room.deregister(at, *worker).await.expect("an answer");
                told::<()>("deregister", Vec::new())
            }
        }
    }
}
