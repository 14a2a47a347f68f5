//! What functions answer, and what is read out of it.
//!
//! Promises: an answer of another form than the function's contract is a bad row, and never a guess.

use pg::{Row, get};
use protocol::{
    AttemptId, Guard, Incarnation, InstallationId, JobId, Priority, ReservationId, Token, Window,
};

use super::params::Id;
use super::trouble::Trouble;
use crate::remote::events::{Head, Verdict};

/// A field that is read.
pub(super) type Read<T> = Result<T, Trouble>;

/// A number that is never below zero.
pub(super) fn number<T: TryFrom<i64>>(row: &Row, column: &str) -> Read<T> {
    let value: i64 = get(row, column)?;
    T::try_from(value).map_err(|_| Trouble::BadRow(format!("{column} is {value}, out of range")))
}

/// An id, where there is one.
fn maybe_id(row: &Row, column: &str) -> Read<Option<u128>> {
    Ok(get::<Option<Id>>(row, column)?.map(|id| u128::from_be_bytes(id.0)))
}

pub(super) fn job(row: &Row) -> Read<Option<JobId>> {
    Ok(maybe_id(row, "job")?.map(JobId))
}

pub(super) fn attempt(row: &Row) -> Read<Option<AttemptId>> {
    Ok(maybe_id(row, "attempt")?.map(AttemptId))
}

pub(super) fn worker(row: &Row, column: &str) -> Read<Option<Incarnation>> {
    Ok(maybe_id(row, column)?.map(Incarnation))
}

pub(super) fn installation(row: &Row) -> Read<Option<InstallationId>> {
    Ok(maybe_id(row, "installation")?.map(InstallationId))
}

pub(super) fn reservation(row: &Row) -> Read<Option<ReservationId>> {
    Ok(maybe_id(row, "reservation")?.map(ReservationId))
}

pub(super) fn token(row: &Row) -> Read<Option<Token>> {
    match get::<Option<i64>>(row, "token")? {
        None => Ok(None),
        Some(_) => number(row, "token").map(|token| Some(Token(token))),
    }
}

pub(super) fn window(row: &Row) -> Read<Window> {
    let found: i32 = get(row, "priority")?;
    let priority = u8::try_from(found).map_err(|_| Trouble::BadRow(format!("priority is {found}")))?;
    Ok(Window { queue: get(row, "queue")?, kind: get(row, "kind")?, priority: Priority(priority) })
}

/// What a row must have.
pub(super) fn must<T>(found: Option<T>, what: &str) -> Read<T> {
    found.ok_or_else(|| Trouble::BadRow(format!("the answer has no {what}")))
}

/// A step of a function's answer.
pub(super) struct Step {
    pub(super) order: u64,
    /// Whether it happened now and is an event; a repeat and a look in vain are none.
    pub(super) recorded: bool,
    pub(super) verdict: Verdict,
    pub(super) row: Row,
}

impl Step {
    fn read(row: Row) -> Read<Self> {
        let guard: Option<&str> = get(&row, "guard")?;
        let verdict = match guard {
            None => {
                let in_use: i64 = get::<Option<i64>>(&row, "in_use")?.unwrap_or(0);
                Verdict::Taken { in_use: u32::try_from(in_use).unwrap_or(u32::MAX) }
            }
            Some(name) => {
                let guard = Guard::from_name(name);
                Verdict::Refused(
                    guard.ok_or_else(|| Trouble::BadRow(format!("no guard is called `{name}`")))?,
                )
            }
        };
        let recorded = get::<Option<bool>>(&row, "recorded")?.unwrap_or(false);
        Ok(Self { order: number(&row, "revision")?, recorded, verdict, row })
    }

    pub(super) fn is_taken(&self) -> bool {
        matches!(self.verdict, Verdict::Taken { .. })
    }

    pub(super) fn flag(&self) -> Read<bool> {
        get::<Option<bool>>(&self.row, "flag").map(|flag| flag.unwrap_or(false))
    }
}

/// A function's answer: the pool at that moment, and its steps.
pub(super) struct Answered {
    pub(super) head: Head,
    pub(super) order: u64,
    /// Whether the end of the grace gave places back.
    pub(super) freed: bool,
    rows: Vec<Row>,
}

impl Answered {
    pub(super) fn read(mut rows: Vec<Row>) -> Read<Self> {
        let head = must(rows.pop(), "head")?;
        let epoch = number(&head, "epoch")?;
        if epoch == 0 {
            let head = Head { epoch, limit: 0, lease_ms: 0 };
            return Ok(Self { head, order: 0, freed: false, rows });
        }
        Ok(Self {
            order: number(&head, "revision")?,
            freed: get(&head, "freed")?,
            head: Head { epoch, limit: number(&head, "global_limit")?, lease_ms: number(&head, "lease_ms")? },
            rows,
        })
    }

    /// The rows after the first.
    pub(super) fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// The steps of an action.
    pub(super) fn into_steps(self) -> Read<Vec<Step>> {
        self.rows.into_iter().map(Step::read).collect()
    }

    /// The only step.
    pub(super) fn into_step(self) -> Read<Step> {
        let first = self.rows.into_iter().next();
        Step::read(must(first, "step")?)
    }
}
