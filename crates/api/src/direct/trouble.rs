//! What a room's silence or refusal is for the port.

use std::error::Error;

use protocol::{Fault, FaultKind, Guard, JobId, Stamped, Step, Violation, told};
use target::TargetFault;

use crate::v1::{Code, Problem};

impl From<Fault> for Problem {
    fn from(fault: Fault) -> Self {
        // A value that the room itself checks is refused by a fault that carries the violation.
        if let Some(violation) = fault.source().and_then(|source| source.downcast_ref::<Violation>()) {
            return violation.clone().into();
        }
        let code = match fault.kind {
            FaultKind::Unreachable => Code::Unavailable,
            FaultKind::Ambiguous => Code::Ambiguous,
            FaultKind::Corrupt => Code::Damaged,
        };
        Self::new(code, told(&fault))
    }
}

impl From<TargetFault> for Problem {
    fn from(fault: TargetFault) -> Self {
        let code = if fault.bad_data { Code::Damaged } else { Code::Unavailable };
        Self::new(code, told(&fault))
    }
}

/// What a store answered about one job; `refusal` puts a guard into words.
pub(super) fn answered<T>(
    job: JobId,
    answer: Stamped<T>,
    refusal: impl FnOnce(Guard) -> Problem,
) -> Result<T, Problem> {
    match answer.step {
        Step::Taken(effect) => Ok(effect),
        Step::Refused(Guard::JobExists) => Err(no_job(job)),
        Step::Refused(guard) => Err(refusal(guard)),
        Step::SetAside(reason) => Err(Problem::new(Code::Damaged, format!("{job} is set aside: {reason}"))),
    }
}

/// There is no such job.
pub(super) fn no_job(job: JobId) -> Problem {
    Problem::not_found(format_args!("job {job}"))
}

/// A room answered a batch with fewer answers than it has elements.
pub(super) fn short() -> Problem {
    Problem::new(Code::Damaged, "a store answered less than it was asked")
}
