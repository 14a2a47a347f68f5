//! What runs an attempt's work.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use durable::{Authorized, ProgramExit};
use protocol::{FailureCause, JobSpec};
use runtime::catch_panic;
use tokio::sync::watch;

use crate::control::{AttemptControl, Stop};
use crate::stage::{AttemptFolder, StageError};

/// An attempt's work, ready to run.
pub struct Run {
    /// What was claimed.
    pub authorized: Authorized,
    /// Progress, checkpoints, stop.
    pub control: Arc<AttemptControl>,
    /// The state to resume from; empty for none.
    pub state: Vec<u8>,
    /// Until when it may run unless told otherwise, on the clock's boot time.
    pub deadline: watch::Receiver<Duration>,
    pub(crate) folder: AttemptFolder,
}

impl Run {
    /// The folder whose contents become the result, made at the first call.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn output(&self) -> Result<PathBuf, StageError> {
        let output = self.folder.output();
        if !output.is_dir() {
            self.folder.make()?;
        }
        Ok(output)
    }
}

/// How the work ended. Nothing of it runs any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// It is complete.
    Done,
    /// It failed.
    Failed {
        /// Why.
        cause: FailureCause,
        /// Text for people.
        error: String,
        /// How its program ended.
        exit: Option<ProgramExit>,
    },
    /// It was stopped by order.
    Stopped(Stop),
}

impl Ending {
    /// An ordinary failure without a program.
    pub fn failed(cause: FailureCause, error: impl Into<String>) -> Self {
        Self::Failed { cause, error: error.into(), exit: None }
    }
}

/// Runs work. Obeys `run.control.stop()` and returns only when nothing of the work runs any more.
#[async_trait]
pub trait Executor: Send + Sync {
    /// Runs it to its end.
    async fn execute(&self, run: Arc<Run>) -> Ending;
}

/// An error of a handler.
#[derive(Debug)]
pub struct HandlerError {
    /// Text for people.
    pub text: String,
    /// Whether no further attempt can succeed.
    pub permanent: bool,
}

/// A handler, without its types.
#[async_trait]
pub trait Handler: Send + Sync {
    /// The kind it serves.
    fn kind(&self) -> &str;

    /// Runs one attempt.
    async fn run(&self, run: Arc<Run>) -> Result<(), HandlerError>;
}

/// Which executor runs what.
pub(crate) struct Executors {
    programs: Option<Arc<dyn Executor>>,
    handlers: BTreeMap<String, Arc<dyn Handler>>,
}

impl Executors {
    pub(crate) fn new(programs: Option<Arc<dyn Executor>>, handlers: Vec<Arc<dyn Handler>>) -> Self {
        let handlers = handlers.into_iter().map(|handler| (handler.kind().to_owned(), handler)).collect();
        Self { programs, handlers }
    }

    pub(crate) fn kinds(&self) -> impl Iterator<Item = String> + '_ {
        self.handlers.keys().cloned()
    }

    pub(crate) async fn execute(&self, spec: &JobSpec, run: Arc<Run>) -> Ending {
        match (&spec.command, &self.programs, self.handlers.get(&spec.kind)) {
            (Some(_), Some(programs), _) => programs.execute(run).await,
            (None, _, Some(handler)) => run_handler(Arc::clone(handler), run).await,
            (Some(_), None, _) => Ending::failed(FailureCause::Permanent, "this worker runs no programs"),
            (None, _, None) => Ending::failed(
                FailureCause::Permanent,
                format!(
                    "no handler serves the kind `{}` on this worker, and the job has no command",
                    spec.kind
                ),
            ),
        }
    }
}

/// Runs a handler as a task of its own: a panic is a failure of the job, and an order to end at once drops
/// it where it stands.
async fn run_handler(handler: Arc<dyn Handler>, run: Arc<Run>) -> Ending {
    let mut stop = run.control.stop();
    let spawner = Arc::clone(&run.control.session.handler_spawner);
    let (sender, mut ended) = tokio::sync::oneshot::channel();
    let mut lost = run.control.stop();
    let work = Arc::clone(&run);
    spawner.spawn(Box::pin(async move {
        let panicked =
            |text| HandlerError { text: format!("the handler panicked: {text}"), permanent: false };
        tokio::select! {
            biased;
            result = catch_panic(handler.run(work)) => {
                let _ = sender.send(result.unwrap_or_else(|text| Err(panicked(text))));
            }
            _ = lost.wait_for(|stop| *stop == Stop::LeaseLost) => {}
        }
    }));
    let result = (&mut ended).await;
    let stop = *stop.borrow_and_update();
    match result {
        Err(_) => Ending::Stopped(Stop::LeaseLost),
        Ok(Ok(())) if stop < Stop::TimedOut => Ending::Done,
        Ok(_) if stop >= Stop::Cancel => Ending::Stopped(stop),
        Ok(_) if stop == Stop::TimedOut => {
            Ending::failed(FailureCause::TimedOut, "it ran longer than its timeout")
        }
        Ok(Err(_)) if stop == Stop::Drain => Ending::Stopped(Stop::Drain),
        Ok(Err(error)) => {
            let cause = if error.permanent { FailureCause::Permanent } else { FailureCause::Failed };
            Ending::failed(cause, error.text)
        }
        Ok(Ok(())) => Ending::Done,
    }
}
