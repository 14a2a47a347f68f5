//! Typed jobs.

use std::error::Error;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use protocol::{JobId, Token, UserProgress};
use serde::Serialize;
use serde::de::DeserializeOwned;
use worker::{CheckpointError, Handler, HandlerError, Run, Stop, describe};

/// What runs a job of one kind.
#[async_trait]
pub trait Job: Send + Sync + 'static {
    /// The kind it serves.
    const KIND: &'static str;

    /// Its arguments, read from the job's JSON. Args that cannot be read fail the job for good.
    type Args: DeserializeOwned + Send;

    /// Runs one attempt. Whatever is in [`Context::output`] when it returns becomes the result.
    ///
    /// # Errors
    /// Any error fails the attempt; [`JobError::permanent`] fails the job.
    async fn run(&self, context: Context, args: Self::Args) -> Result<(), JobError>;
}

/// Why an attempt failed.
#[derive(Debug)]
pub struct JobError {
    text: String,
    permanent: bool,
}

impl JobError {
    /// A failure that a later attempt may not have.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), permanent: false }
    }

    /// A failure that every later attempt would have, too: there is none.
    pub fn permanent(text: impl Into<String>) -> Self {
        Self { text: text.into(), permanent: true }
    }
}

impl fmt::Display for JobError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl<E: Error + Send + Sync + 'static> From<E> for JobError {
    fn from(error: E) -> Self {
        Self::new(describe(&error))
    }
}

/// What a running attempt can do.
#[derive(Clone)]
pub struct Context {
    run: Arc<Run>,
}

impl Context {
    /// The job.
    #[must_use]
    pub fn job_id(&self) -> JobId {
        self.run.control.job()
    }

    /// The attempt's fencing token: hand it to whatever must not take orders from an older attempt.
    #[must_use]
    pub fn token(&self) -> Token {
        self.run.control.token()
    }

    /// The folder whose contents become the result. Holds the output of the checkpoint resumed from.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn output(&self) -> Result<PathBuf, JobError> {
        Ok(self.run.output()?)
    }

    /// Shows progress; merged to a few reports a second.
    ///
    /// # Errors
    /// When the message is over 1 KiB or has a NUL.
    pub fn progress(&self, done: u64, total: Option<u64>, message: Option<String>) -> Result<(), JobError> {
        Ok(self.run.control.show_progress(UserProgress { done, total, message })?)
    }

    /// Makes progress, state and the output so far durable; returns after the commit.
    ///
    /// # Errors
    /// When it was not made. The checkpoint before it still stands.
    pub async fn checkpoint(
        &self,
        done: u64,
        total: Option<u64>,
        state: &impl Serialize,
    ) -> Result<(), JobError> {
        let state = serde_json::to_vec(state)?;
        let user = UserProgress { done, total, message: None };
        self.run.control.checkpoint(user, state).await.map_err(|error: CheckpointError| error.into())
    }

    /// The state of the checkpoint that this attempt resumes from.
    ///
    /// # Errors
    /// When it is not of this type: say what to do then, for instance begin anew.
    pub fn restore<T: DeserializeOwned>(&self) -> Result<Option<T>, JobError> {
        if self.run.state.is_empty() {
            return Ok(None);
        }
        Ok(Some(serde_json::from_slice(&self.run.state)?))
    }

    /// Whether to stop soon: cancel, drain or timeout.
    #[must_use]
    pub fn should_stop(&self) -> bool {
        *self.run.control.stop().borrow() != Stop::None
    }

    /// Returns when the work should stop: cancel, drain or timeout.
    pub async fn cancelled(&self) {
        let mut stop = self.run.control.stop();
        if stop.wait_for(|stop| *stop != Stop::None).await.is_err() {
            std::future::pending().await
        }
    }
}

/// A typed job as the worker sees it.
pub(crate) struct Typed<J>(pub(crate) J);

#[async_trait]
impl<J: Job> Handler for Typed<J> {
    fn kind(&self) -> &str {
        J::KIND
    }

    async fn run(&self, run: Arc<Run>) -> Result<(), HandlerError> {
        let args = serde_json::from_str(&run.authorized.spec.args).map_err(|error| HandlerError {
            text: format!("the args are not what the kind `{}` takes: {error}", J::KIND),
            permanent: true,
        })?;
        let outcome = self.0.run(Context { run }, args).await;
        outcome.map_err(|error| HandlerError { text: error.text, permanent: error.permanent })
    }
}
