//! A batch of one action, decided row by row.
//!
//! Promises: one statement for all rows that have nothing in common; rows that name the same job are decided one after
//! the other, in their order; a row that fails by itself is set aside and its neighbours are decided. Each row's
//! decision is one moment; the batch as a whole is none.

use std::collections::HashSet;
use std::sync::Arc;

use protocol::{EventSink, Fault, FaultKind, Mark, Origin, Stamped};
use tokio::time::Instant;
use tokio_postgres::Row;

use super::column::holds;
use super::entry::{Asker, Decided, Decision};
use super::params::Params;
use super::session::Sessions;
use super::statements::Statements;
use super::trouble::Trouble;
use super::unanswered::{self, Unanswered};
use crate::Answer;

/// Rows in one statement, at most.
const ROWS: usize = 1_000;
/// Bytes of texts and documents in one statement, about (a single row may have more).
const BYTES: usize = 16 * 1024 * 1024;
/// How often a statement is tried again whose keys another session was just writing.
const RACES: u32 = 5;

/// What two rows of one statement may not have in common.
#[derive(PartialEq, Eq, Hash)]
pub(super) enum Key<'a> {
    Id(u128),
    Text(&'a str),
}

/// An action of the room, over rows.
pub(super) trait Action: Sync {
    /// What is asked, a row.
    type Request: Sync;
    /// What is answered when it was taken.
    type Effect: Send;
    /// For messages.
    const DOING: &'static str;
    /// Whether the statement may answer `moved`.
    const MOVES: bool = true;

    /// Its statement.
    fn text(statements: &Statements) -> &str;

    /// Why a row is not even asked.
    fn refusal(_request: &Self::Request) -> Option<String> {
        None
    }

    /// What no other row of the statement may have.
    fn keys(request: &Self::Request) -> Vec<Key<'_>>;

    /// How large the row is, in bytes, where that counts.
    fn weight(_request: &Self::Request) -> usize {
        0
    }

    /// The statement's parameters.
    fn params(now: Option<i64>, rows: &[&Self::Request]) -> Result<Params, String>;

    /// What the statement's answer says.
    fn decide(asker: Asker<'_>, request: &Self::Request, row: &Row) -> Decision<Self::Effect>;
}

/// Where actions are asked.
pub(super) struct Desk {
    pub(super) sessions: Sessions,
    pub(super) statements: Arc<Statements>,
    pub(super) sink: Arc<dyn EventSink>,
    pub(super) time: Option<super::TimeSource>,
    pub(super) unanswered: Unanswered,
}

type Answers<T> = Vec<Option<Stamped<T>>>;
/// Who asks, and which of the rows for another time.
type Repeating<'a> = (Asker<'a>, &'a HashSet<usize>);

impl Desk {
    /// The time, where it is not the server's.
    pub(super) fn now(&self) -> Option<i64> {
        self.time.as_ref().map(|time| time().0)
    }

    /// Decides every row.
    pub(super) async fn batch<A: Action>(
        &self,
        _: A,
        origin: &Origin,
        requests: &[A::Request],
    ) -> Answer<A::Effect> {
        let mut answers: Answers<A::Effect> = requests
            .iter()
            .map(|request| A::refusal(request).map(|reason| Stamped::set_aside(Mark::default(), reason)))
            .collect();
        let mut pending: Vec<usize> = (0..requests.len()).filter(|place| answers[*place].is_none()).collect();
        let asker = Asker { origin, recording: self.sink.is_on(), is_repeat: false };
        let repeats = self.begin::<A>(asker, requests);
        let limit = self.sessions.call_timeout();
        let mut changed = false;
        let mut since = Instant::now();
        while !pending.is_empty() {
            let (round, rest) = next_round::<A>(requests, &pending);
            let before = pending.len();
            let moved = self.round::<A>((asker, &repeats), requests, &round, &mut answers).await;
            let moved = moved.map_err(|trouble| self.fault::<A>(trouble, changed))?;
            changed = true;
            pending = [moved, rest].concat();
            pending.sort_unstable();
            if pending.len() < before {
                since = Instant::now();
            } else if since.elapsed() >= limit {
                let doing = self.sessions.doing(&format!("{}: the rows do not stand still", A::DOING));
                return Err(Fault::new(FaultKind::Ambiguous, doing));
            }
        }
        // Also those that were set aside.
        requests.iter().for_each(|request| self.end::<A>(asker, request));
        Ok(answers.into_iter().map(|answer| answer.expect("every row was answered")).collect())
    }

    fn fault<A: Action>(&self, trouble: Trouble, changed: bool) -> Fault {
        let doing = self.sessions.doing(A::DOING);
        if changed { Fault::ambiguous(doing, trouble) } else { trouble.of_an_action(doing) }
    }

    /// Asks about these rows; answers which must be asked again.
    async fn round<A: Action>(
        &self,
        asker: Repeating<'_>,
        requests: &[A::Request],
        round: &[usize],
        answers: &mut Answers<A::Effect>,
    ) -> Result<Vec<usize>, Trouble> {
        match self.ask::<A>(requests, round).await {
            Ok(rows) => Ok(self.note::<A>(asker, requests, (round, &rows), answers)),
            Err(trouble) if trouble.of_the_row().is_some() => {
                let mut moved = Vec::new();
                for place in round {
                    match self.ask::<A>(requests, &[*place]).await {
                        Ok(rows) => {
                            moved.extend(self.note::<A>(asker, requests, (&[*place], &rows), answers));
                        }
                        Err(trouble) => {
                            let Some(reason) = trouble.of_the_row() else { return Err(spread(trouble)) };
                            answers[*place] = Some(Stamped::set_aside(Mark::default(), reason));
                        }
                    }
                }
                Ok(moved)
            }
            Err(trouble) => Err(trouble),
        }
    }

    /// The rows that were asked before and never answered. A caller that goes away leaves its rows so, too.
    fn begin<A: Action>(&self, asker: Asker<'_>, requests: &[A::Request]) -> HashSet<usize> {
        let sent = |request| row_of::<A>(asker, request).is_some_and(|row| self.unanswered.send(row));
        let repeats = requests.iter().enumerate().filter(|(_, request)| asker.recording && sent(*request));
        repeats.map(|(place, _)| place).collect()
    }

    fn end<A: Action>(&self, asker: Asker<'_>, request: &A::Request) {
        if let Some(row) = row_of::<A>(asker, request) {
            self.unanswered.answered(&row);
        }
    }

    async fn ask<A: Action>(&self, requests: &[A::Request], round: &[usize]) -> Result<Vec<Row>, Trouble> {
        let rows: Vec<_> = round.iter().map(|place| &requests[*place]).collect();
        let mut races = 0;
        loop {
            let params = A::params(self.now(), &rows).map_err(Trouble::BadRow)?;
            match self.sessions.rows(A::text(&self.statements), &params).await {
                Err(trouble) if trouble.is_raced() && races < RACES => races += 1,
                Ok(answered) if answered.len() != rows.len() => {
                    let text = format!("{} rows were asked and {} answered", rows.len(), answered.len());
                    return Err(Trouble::NoAnswer(text.into()));
                }
                other => return other,
            }
        }
    }

    fn note<A: Action>(
        &self,
        (asker, repeats): Repeating<'_>,
        requests: &[A::Request],
        (round, rows): (&[usize], &[Row]),
        answers: &mut Answers<A::Effect>,
    ) -> Vec<usize> {
        let mut moved = Vec::new();
        for (place, row) in round.iter().zip(rows) {
            if A::MOVES && holds(row, "moved").unwrap_or(false) {
                moved.push(*place);
                continue;
            }
            let asker = Asker { is_repeat: repeats.contains(place), ..asker };
            let decided = A::decide(asker, &requests[*place], row).or_else(|trouble| {
                Decided::silent::<Trouble>(Stamped::set_aside(Mark::default(), trouble.to_string()))
            });
            let Ok(decided) = decided else { continue };
            decided.events.into_iter().for_each(|event| self.sink.record(event));
            answers[*place] = Some(decided.answer);
            self.end::<A>(asker, &requests[*place]);
        }
        moved
    }
}

fn row_of<A: Action>(asker: Asker<'_>, request: &A::Request) -> Option<unanswered::Row> {
    match A::keys(request).first() {
        Some(Key::Id(job)) => Some(Unanswered::row(A::DOING, asker.origin, *job)),
        _ => None,
    }
}

/// A neighbour was decided already: what is not known of one row is not known of the batch.
fn spread(trouble: Trouble) -> Trouble {
    Trouble::NoAnswer(trouble.into())
}

/// The rows that can be asked at once: none has a key of an earlier one.
pub(super) fn next_round<A: Action>(requests: &[A::Request], pending: &[usize]) -> (Vec<usize>, Vec<usize>) {
    let mut taken = HashSet::new();
    let (mut round, mut rest) = (Vec::new(), Vec::new());
    let mut bytes = 0_usize;
    for place in pending {
        let request = &requests[*place];
        let keys = A::keys(request);
        let free = keys.iter().all(|key| !taken.contains(key));
        let fits = round.len() < ROWS && (round.is_empty() || bytes + A::weight(request) <= BYTES);
        if free && fits {
            bytes += A::weight(request);
            round.push(*place);
        } else {
            rest.push(*place);
        }
        taken.extend(keys);
    }
    (round, rest)
}
