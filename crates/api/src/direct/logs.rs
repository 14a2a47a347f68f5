//! Logs of attempts.

use std::time::Duration;

use bytes::Bytes;
use futures_util::stream;
use protocol::{AttemptId, JobId, told};
use target::{LogReader, StageId};

use super::Direct;
use crate::port::{Answer, Bytestream};
use crate::v1::{Code, Problem};

/// How often the log of a running attempt is looked at.
const LOOK: Duration = Duration::from_millis(200);

struct Reading {
    direct: Direct,
    job: JobId,
    attempt: AttemptId,
    reader: Box<dyn LogReader>,
    follow: bool,
    ended: bool,
}

impl Reading {
    async fn next(mut self) -> Option<(Answer<Bytes>, Self)> {
        while !self.ended {
            // What was written before the end was seen is read after it.
            let over = !self.follow || has_ended(&self.direct, self.job, self.attempt).await;
            match self.reader.read_more().await {
                Ok(bytes) => {
                    self.ended = over;
                    if !bytes.is_empty() {
                        return Some((Ok(bytes.into()), self));
                    }
                }
                Err(error) => {
                    self.ended = true;
                    let text = format!("cannot read the log of {}: {}", self.job, told(&error));
                    return Some((Err(Problem::new(Code::Unavailable, text)), self));
                }
            }
            if !self.ended {
                tokio::time::sleep(LOOK).await;
            }
        }
        None
    }
}

/// Whether the attempt has ended; silence of the store ends nothing.
async fn has_ended(direct: &Direct, job: JobId, attempt: AttemptId) -> bool {
    match direct.view(job).await {
        Ok(view) => {
            let found = view.attempts.iter().find(|view| view.attempt == attempt);
            found.is_none_or(|view| view.verdict.is_some())
        }
        Err(problem) => problem.code == Code::NotFound,
    }
}

impl Direct {
    pub(super) async fn read_log(
        &self,
        job: JobId,
        attempt: Option<u32>,
        follow: bool,
    ) -> Answer<Bytestream> {
        let view = self.view(job).await?;
        let wanted = attempt.or_else(|| view.attempts.last().map(|attempt| attempt.token.0));
        // A job that has not run yet has an empty log.
        let Some(wanted) = wanted else { return Ok(Box::pin(stream::empty())) };
        let Some(found) = view.attempts.iter().find(|attempt| attempt.token.0 == wanted) else {
            return Err(Problem::new(Code::NotFound, format!("{job} has no attempt {wanted}"))
                .hint(format!("it has had {}", view.attempts.len())));
        };
        let stage = StageId { job, token: found.token, attempt: found.attempt };
        let state = Reading {
            direct: self.clone(),
            job,
            attempt: found.attempt,
            reader: self.rooms.target.read_log(&stage),
            follow: follow && found.verdict.is_none(),
            ended: false,
        };
        Ok(Box::pin(stream::unfold(state, Reading::next)))
    }
}
