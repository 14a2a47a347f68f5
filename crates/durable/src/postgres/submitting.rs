//! Submit inside the user's own transaction, on the user's own connection: committed means accepted, rolled back means
//! never asked. Wakes nobody: a dispatcher finds such a job by its passes, the fast one as soon as it is committed within
//! five seconds of being written, the slow one in any case.

use protocol::{Mark, Stamped};
use tokio_postgres::GenericClient;

use super::actions::{Submissions, submission, submission_params};
use super::batch::{Action as _, next_round};
use super::statements::in_schema;
use super::trouble::Trouble;
use crate::{Submit, Submitted};

/// A submission on the user's connection that did not get an answer. The user's transaction can only be rolled back.
#[derive(Debug, thiserror::Error)]
pub enum SubmitError {
    /// The server said no; with `unique_violation`, another transaction has just used the same key or id: try again.
    #[error("cannot submit jobs")]
    Refused(#[source] tokio_postgres::Error),
    /// What came back cannot be understood.
    #[error("cannot submit jobs: {0}")]
    Unreadable(String),
}

/// Accepts jobs as [`crate::Durable::submit`] does, with the same answers, on a client or in a transaction of the user's.
///
/// # Errors
/// When the server refuses or does not answer; then the transaction is of no more use.
pub async fn submit_on(
    client: &impl GenericClient,
    schema: &str,
    jobs: &[Submit],
) -> Result<Vec<Stamped<Submitted>>, SubmitError> {
    let text = in_schema(include_str!("sql/submit.sql"), schema);
    let refused =
        |job: &Submit| Submissions::refusal(job).map(|reason| Stamped::set_aside(Mark::default(), reason));
    let mut answers: Vec<_> = jobs.iter().map(refused).collect();
    let mut pending: Vec<usize> = (0..jobs.len()).filter(|place| answers[*place].is_none()).collect();
    let unreadable = |trouble: Trouble| SubmitError::Unreadable(trouble.to_string());
    while !pending.is_empty() {
        let (round, rest) = next_round::<Submissions>(jobs, &pending);
        let asked: Vec<_> = round.iter().map(|place| &jobs[*place]).collect();
        let params = submission_params(None, &asked).map_err(SubmitError::Unreadable)?;
        let rows = client.query_typed(&text, &params.typed()).await.map_err(SubmitError::Refused)?;
        for (place, row) in round.iter().zip(&rows) {
            answers[*place] = Some(submission(&jobs[*place], row).map_err(unreadable)?.answer);
        }
        pending = rest;
    }
    let missing = || SubmitError::Unreadable("fewer rows were answered than asked".to_owned());
    answers.into_iter().map(|answer| answer.ok_or_else(missing)).collect()
}
