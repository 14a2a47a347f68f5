//! What a step says of itself, for its event (protocol §6).

use protocol::{Action, AttemptId, Incarnation, JobId, Judged, ReservationId, Token};

/// An action's arguments and effect.
pub(crate) struct Note<'a> {
    pub(crate) action: Action,
    pub(crate) job: JobId,
    pub(crate) attempt: Option<AttemptId>,
    pub(crate) token: Option<Token>,
    pub(crate) worker: Option<Incarnation>,
    pub(crate) reservation: Option<ReservationId>,
    pub(crate) checkpoint_revision: Option<u64>,
    pub(crate) judged: &'a [Judged],
}

impl Note<'_> {
    pub(crate) fn of(action: Action, job: JobId) -> Self {
        Self {
            action,
            job,
            attempt: None,
            token: None,
            worker: None,
            reservation: None,
            checkpoint_revision: None,
            judged: &[],
        }
    }
}
