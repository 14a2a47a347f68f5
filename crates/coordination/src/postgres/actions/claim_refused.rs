//! `ClaimRefused`: a worker whose claim was refused hands its reservation back (rule 1). And its opposite: the worker
//! says that it still means to use it.

use crate::HandBack;
use crate::postgres::batch::Rows;
use crate::postgres::params::Params;
use crate::postgres::reply::{Read, Step};
use crate::postgres::statements::Statements;
use crate::remote::events::{Head, Note};
use crate::remote::wakes::Wakes;
use protocol::Action;

fn pack(chunk: &[&HandBack], params: Params) -> Params {
    params
        .ids(chunk.iter().map(|one| one.job.to_bytes()))
        .ids(chunk.iter().map(|one| one.reservation.to_bytes()))
        .ids(chunk.iter().map(|one| one.worker.to_bytes()))
}

#[doc(alias = "ClaimRefused")]
pub(in crate::postgres) struct ClaimRefusedRows;

impl Rows for ClaimRefusedRows {
    type Request = HandBack;
    type Effect = ();
    type Found = ();

    const DOING: &'static str = "hand reservations back";

    fn call(statements: &Statements) -> &str {
        &statements.claim_refused
    }

    fn pack(chunk: &[&HandBack], params: Params) -> Params {
        pack(chunk, params)
    }

    fn found(_: &Step) -> Read<()> {
        Ok(())
    }

    fn note<'a>(request: &'a HandBack, (): &()) -> Option<Note<'a>> {
        Some(Note {
            worker: Some(request.worker),
            reservation: Some(request.reservation),
            ..Note::of(Action::ClaimRefused, request.job)
        })
    }

    fn effect(_: &HandBack, (): (), _: &Head) {}

    fn wakes(request: &HandBack, (): &(), wakes: &mut Wakes) {
        wakes.give_back(request.job);
    }
}

/// Renews a reservation's deadline. No action of the spec: a deadline is what `FalseSuspicion` stands for.
pub(in crate::postgres) struct RenewReservationRows;

impl Rows for RenewReservationRows {
    type Request = HandBack;
    type Effect = ();
    type Found = ();

    const DOING: &'static str = "renew reservations";

    fn call(statements: &Statements) -> &str {
        &statements.renew_reservation
    }

    fn pack(chunk: &[&HandBack], params: Params) -> Params {
        pack(chunk, params)
    }

    fn found(_: &Step) -> Read<()> {
        Ok(())
    }

    fn note<'a>(_: &'a HandBack, (): &()) -> Option<Note<'a>> {
        None
    }

    fn effect(_: &HandBack, (): (), _: &Head) {}
}
