//! The durable room, with an ear at its answers.

use std::sync::Arc;
use std::time::SystemTime;

use async_trait::async_trait;
use durable::*;
use protocol::{AttemptId, FailureCause, Fault, Guard, JobId, Origin, Stamped, Step, Window};

use crate::tracer::{Tracer, Verdict, cause_name};

/// Whose answers pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ear {
    /// Those of this process itself: its worker, its agents, its API.
    Own,
    /// Those of worker processes that it serves, which tell of their attempts themselves.
    Served,
}

/// A room whose answers are heard.
pub(crate) struct Heard {
    pub(crate) room: Arc<dyn DurableRoom>,
    pub(crate) tracer: Arc<Tracer>,
    pub(crate) ear: Ear,
}

macro_rules! heard {
    ([] $port:ident { $($method:ident($($argument:ident: $type:ty),*) -> $value:ty;)* }) => {
        /// What is made of each answer: of most, nothing.
        trait Ears {
            $(fn $method(&self, _answer: &$value, _since: SystemTime, $(_: $type),*) {})*
        }

        #[async_trait]
        impl $port for Heard {
            $(async fn $method(&self, $($argument: $type),*) -> Result<$value, Fault> {
                let since = SystemTime::now();
                let answer = self.room.$method($($argument),*).await;
                if let Ok(answer) = &answer {
                    Ears::$method(self, answer, since, $($argument),*);
                }
                answer
            })*
        }
    };
}

macro_rules! passed {
    ([] $port:ident { $($method:ident($($argument:ident: $type:ty),*) -> $value:ty;)* }) => {
        #[async_trait]
        impl $port for Heard {
            $(async fn $method(&self, $($argument: $type),*) -> Result<$value, Fault> {
                self.room.$method($($argument),*).await
            })*
        }
    };
}

wire::durable_actions!(heard[]);
wire::durable_reads!(passed[]);
wire::durable_listing!(passed[]);
wire::durable_access!(passed[]);

/// A verdict that was asked for: of which attempt, and what it says went wrong.
type Asked = (AttemptId, Option<&'static str>);

impl Heard {
    /// The answers to a worker's own verdicts.
    fn verdicts(&self, answers: &[Stamped<Ended>], asked: impl Iterator<Item = Asked>) {
        for (answer, (attempt, error)) in answers.iter().zip(asked) {
            match (&answer.step, self.ear) {
                (Step::Taken(_), Ear::Served) => drop(self.tracer.attempts.end(attempt)),
                (Step::Taken(ended), Ear::Own) => {
                    self.tracer.ended(attempt, Verdict { phase: ended.phase, error });
                }
                // Followed by the cancel's own end.
                (Step::Refused(Guard::PhaseRunning | Guard::NotCancelRequested), _) => {}
                (Step::Refused(guard), Ear::Own) => self.tracer.fenced(attempt, guard.name()),
                (Step::Refused(_), Ear::Served) | (Step::SetAside(_), _) => {}
            }
        }
    }
}

impl Ears for Heard {
    fn submit(&self, answers: &Vec<Stamped<Submitted>>, since: SystemTime, _: &Origin, batch: &[Submit]) {
        for (answer, request) in answers.iter().zip(batch) {
            if let Step::Taken(submitted) = &answer.step
                // The answer to a repeated request says that the job was there; its id tells whose it is.
                && submitted.job == request.job
            {
                self.tracer.sent(request.job, Some(request), request.retry_of, since);
            }
        }
    }

    fn retry(&self, answers: &Vec<Stamped<Retried>>, since: SystemTime, _: &Origin, batch: &[Retry]) {
        for (answer, request) in answers.iter().zip(batch) {
            if let Step::Taken(Retried::NewJob(job)) = answer.step {
                self.tracer.sent(job, None, Some(request.job), since);
            }
        }
    }

    fn authorize_attempt(
        &self,
        answers: &Vec<Stamped<Authorized>>,
        since: SystemTime,
        _: &Origin,
        batch: &[AuthorizeAttempt],
    ) {
        for (answer, request) in answers.iter().zip(batch) {
            if let Step::Taken(authorized) = &answer.step {
                self.tracer.claimed(request, authorized, since);
            }
        }
    }

    fn persist_checkpoint(
        &self,
        answers: &Vec<Stamped<Persisted>>,
        _: SystemTime,
        _: &Origin,
        batch: &[PersistCheckpoint],
    ) {
        for (answer, request) in answers.iter().zip(batch).filter(|_| self.ear == Ear::Own) {
            match answer.step {
                Step::Taken(_) => self.tracer.checkpointed(request.attempt, request.progress, None),
                Step::Refused(guard) => {
                    self.tracer.checkpointed(request.attempt, request.progress, Some(guard));
                }
                Step::SetAside(_) => {}
            }
        }
    }

    fn accept_success(
        &self,
        answers: &Vec<Stamped<Ended>>,
        _: SystemTime,
        _: &Origin,
        batch: &[AcceptSuccess],
    ) {
        self.verdicts(answers, batch.iter().map(|request| (request.attempt, None)));
    }

    fn accept_failure(
        &self,
        answers: &Vec<Stamped<Ended>>,
        _: SystemTime,
        _: &Origin,
        batch: &[AcceptFailure],
    ) {
        self.verdicts(
            answers,
            batch.iter().map(|request| (request.attempt, Some(cause_name(request.cause)))),
        );
    }

    fn reap_lost_attempt(
        &self,
        answers: &Vec<Stamped<Ended>>,
        _: SystemTime,
        _: &Origin,
        batch: &[ReapLostAttempt],
    ) {
        for (answer, request) in answers.iter().zip(batch) {
            let Step::Taken(ended) = &answer.step else { continue };
            let (attempt, error) = (request.attempt, Some(cause_name(FailureCause::Lost)));
            match self.ear {
                Ear::Served => drop(self.tracer.attempts.end(attempt)),
                Ear::Own => {
                    let verdict = Verdict { phase: ended.phase, error };
                    self.tracer.ended_for(request.job, attempt, verdict, Some(request.token));
                }
            }
        }
    }

    fn finalize_cancel(
        &self,
        answers: &Vec<Stamped<Ended>>,
        _: SystemTime,
        _: &Origin,
        batch: &[FinalizeCancel],
    ) {
        for (answer, request) in answers.iter().zip(batch) {
            let Step::Taken(ended) = &answer.step else { continue };
            match self.ear {
                Ear::Served => drop(self.tracer.attempts.end(request.attempt)),
                Ear::Own => {
                    let verdict = Verdict { phase: ended.phase, error: None };
                    self.tracer.ended_for(request.job, request.attempt, verdict, None);
                }
            }
        }
    }
}
