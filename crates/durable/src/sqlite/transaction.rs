//! A transaction as actions and reads see it: statements by name, one time, and what goes into the trace.

use protocol::{
    Action, AttemptId, Detail, Event, Guard, JobId, Judged, Origin, Outcome, Room, Stamped, Token,
};
use rusqlite::{Connection, Row, ToSql};

use super::trouble::Trouble;
pub(super) use crate::decided::{Decided, Seen, mark};
use protocol::Timestamp;

/// Named parameters of a statement.
pub(super) type Params<'a> = &'a [(&'a str, &'a dyn ToSql)];

/// An open transaction.
pub(super) struct Transaction<'a> {
    pub(super) connection: &'a Connection,
    /// The store's clock, read once for the request.
    pub(super) now: Timestamp,
    /// Whether anybody listens to events.
    pub(super) recording: bool,
    /// Whether each row must be undone by itself when it fails.
    pub(super) careful: bool,
}

impl Transaction<'_> {
    /// The rows that the statement answers.
    pub(super) fn rows<T>(
        &self,
        sql: &str,
        params: Params<'_>,
        mut read: impl FnMut(&Row<'_>) -> Result<T, Trouble>,
    ) -> Result<Vec<T>, Trouble> {
        let mut statement = self.connection.prepare_cached(sql)?;
        let mut rows = statement.query(params)?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            found.push(read(row)?);
        }
        Ok(found)
    }

    /// The one row that the statement answers, if it does.
    pub(super) fn row<T>(
        &self,
        sql: &str,
        params: Params<'_>,
        read: impl FnOnce(&Row<'_>) -> Result<T, Trouble>,
    ) -> Result<Option<T>, Trouble> {
        let mut statement = self.connection.prepare_cached(sql)?;
        let mut rows = statement.query(params)?;
        match rows.next()? {
            Some(row) => read(row).map(Some),
            None => Ok(None),
        }
    }

    /// Runs a statement that writes; answers how many rows it wrote.
    pub(super) fn write(&self, sql: &str, params: Params<'_>) -> Result<usize, Trouble> {
        Ok(self.connection.prepare_cached(sql)?.execute(params)?)
    }

    /// Runs a statement that must write exactly one row, because a guard has just said so.
    pub(super) fn write_one(&self, sql: &str, params: Params<'_>) -> Result<(), Trouble> {
        match self.write(sql, params)? {
            1 => Ok(()),
            other => Err(Trouble::BadRow(format!("a statement wrote {other} rows instead of one"))),
        }
    }
}

/// The first of these guards that the row says is false.
pub(super) fn first_false(row: &Row<'_>, guards: &[Guard]) -> Result<Option<Guard>, Trouble> {
    for guard in guards {
        if !row.get::<_, bool>(guard.name())? {
            return Ok(Some(*guard));
        }
    }
    Ok(None)
}

/// A decision, or the reason that there is none.
pub(super) type Decision<T> = Result<Decided<T>, Trouble>;

/// One action on one job, on its way into the trace.
pub(super) struct Entry<'a> {
    pub(super) origin: &'a Origin,
    pub(super) action: Action,
    pub(super) job: JobId,
    pub(super) attempt: Option<AttemptId>,
    pub(super) token: Option<Token>,
    pub(super) judged: &'a [Judged],
    pub(super) detail: Detail,
}

impl Entry<'_> {
    /// It happened, at this revision.
    pub(super) fn taken<T>(self, transaction: &Transaction<'_>, revision: u64, effect: T) -> Decision<T> {
        let events = self.events(transaction, revision, Outcome::Taken);
        Ok(Decided { answer: Stamped::taken(mark(revision), effect), events })
    }

    /// It was refused; the job was seen at this revision in this phase.
    pub(super) fn refused<T>(
        self,
        transaction: &Transaction<'_>,
        seen: Option<Seen>,
        guard: Guard,
    ) -> Decision<T> {
        let revision = seen.map_or(0, |seen| seen.revision);
        let entry = Self { detail: self.detail.seen(seen), ..self };
        let events = entry.events(transaction, revision, Outcome::Refused(guard));
        Ok(Decided { answer: Stamped::refused(mark(revision), guard), events })
    }

    fn events(self, transaction: &Transaction<'_>, order: u64, outcome: Outcome) -> Vec<Event> {
        if !transaction.recording {
            return Vec::new();
        }
        vec![Event {
            room: Room::Durable,
            epoch: 0,
            order,
            action: self.action,
            outcome,
            job: Some(self.job),
            token: self.token,
            attempt: self.attempt,
            actor: self.origin.actor,
            sequence: self.origin.sequence,
            sent_after: self.origin.sent_after,
            answered_before: None,
            detail: self.detail,
            judged: self.judged.to_vec(),
        }]
    }
}

trait DetailSeen {
    fn seen(self, seen: Option<Seen>) -> Self;
}

impl DetailSeen for Detail {
    fn seen(mut self, seen: Option<Seen>) -> Self {
        self.phase_after = seen.map(|seen| seen.phase);
        self.max_attempts = seen.map(|seen| seen.max_attempts);
        self
    }
}
