//! Running a program as an attempt (protocol §3, "Process tree").
//!
//! Promises: the program runs under a warden; its output is drained at any speed and kept within bounds; an
//! order to stop is carried out by SIGTERM and SIGKILL in the stated times; the ending is told only when
//! nothing of the program runs any more. Does not seal or publish.

pub mod client;
mod environment;
mod log;
mod socket;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use durable::ProgramExit;
use protocol::FailureCause;
use serde::{Deserialize, Serialize};

use crate::attempt::describe;
use crate::control::Stop;
use crate::handler::{Ending, Executor, Run};
use crate::stage::{StageError, pack_state, unpack_state};
use crate::warden::{Brood, Order, Report, Start, Warden, WardenCommand, WardenReport};

/// How long a killed tree may take to be gone before its warden is given up as frozen.
const WARDEN_PATIENCE: Duration = Duration::from_secs(2);
/// How often to look whether a warden is stopped. Found so twice in a row it is killed, with its tree: a job
/// that stops its warden would otherwise run unguarded, or hold its slot for ever.
const WARDEN_LOOK: Duration = Duration::from_millis(500);

/// How programs are started.
#[derive(Debug, Clone)]
pub struct ProcessOptions {
    /// The warden.
    pub warden: WardenCommand,
    /// The `remora` binary that programs find on their PATH.
    pub helper: PathBuf,
}

/// Runs programs.
pub struct ProcessExecutor {
    options: ProcessOptions,
    brood: Brood,
}

/// What a program asks of its worker: one line of JSON, one line back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "snake_case")]
pub enum Request {
    /// Show progress.
    Progress(protocol::UserProgress),
    /// Make state and output durable.
    Checkpoint {
        /// The progress at this moment; what was shown last unless given.
        progress: Option<protocol::UserProgress>,
        /// Its message; what was shown last unless given.
        message: Option<String>,
    },
    /// Whether to stop.
    Cancelled,
    /// Who am I.
    Info,
}

/// The worker's answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "snake_case")]
pub enum Response {
    /// Done.
    Ok,
    /// Stop for this reason, or for none.
    Stop {
        /// `cancel`, `drain` or nothing.
        reason: Option<StopReason>,
    },
    /// Who the program is.
    Info(Info),
    /// It could not be done.
    Error {
        /// Text for people.
        text: String,
    },
}

/// Why a program is asked to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// Nothing of the job will be published.
    Cancel,
    /// The job will go on elsewhere.
    Drain,
}

/// Who a program is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Info {
    /// The job.
    pub job: protocol::JobId,
    /// The attempt's fencing token.
    pub attempt: protocol::Token,
    /// The attempt's opaque id.
    pub attempt_id: protocol::AttemptId,
    /// The worker's incarnation.
    pub worker: protocol::Incarnation,
    /// The job's kind.
    pub kind: String,
    /// The retry budget.
    pub max_attempts: u32,
    /// Whether this attempt resumes from a checkpoint.
    pub resumed: bool,
}

impl ProcessExecutor {
    /// An executor; makes this process the subreaper of what killed wardens leave.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn new(options: ProcessOptions) -> std::io::Result<Self> {
        Ok(Self { options, brood: Brood::new()? })
    }

    async fn run(&self, run: &Arc<Run>) -> Result<Ending, StageError> {
        unpack_state(&run.state, &run.folder.state())?;
        let socket = socket::listen(Arc::clone(run))?;
        let start = environment::start(run, &self.options)?;
        let serving = socket::serve(socket, Arc::clone(run));
        let watching = self.watch(run, &start);
        tokio::select! {
            never = serving => match never {},
            ending = watching => ending,
        }
    }

    async fn watch(&self, run: &Arc<Run>, start: &Start) -> Result<Ending, StageError> {
        let control = &run.control;
        let sink = control.session.rooms.target.open_log(&control.stage()).await?;
        let (warden, output) = Warden::start(&self.brood, &self.options.warden, start)
            .await
            .map_err(|error| StageError::local("start a warden", error))?;
        let (log, tail) = log::pump(output, sink);
        let mut supervision = Supervision::new(run, warden);
        tokio::pin!(log);
        let mut drained = false;
        let empty = tokio::select! {
            empty = supervision.until_empty() => empty,
            // The log ends early when the program closes its output; the wait goes on.
            () = &mut log => {
                drained = true;
                supervision.until_empty().await
            }
        };
        let Supervision { warden, verdict, termed, .. } = supervision;
        warden.end(&self.brood, empty).await;
        if !drained {
            // Nothing holds the other end any more; what is in the pipe is read, and a limit guards against a
            // descriptor that was smuggled out.
            let _ = tokio::time::timeout(Duration::from_secs(2), log).await;
        }
        Ok(judge(*control.stop().borrow(), termed, verdict, &tail.text()))
    }
}

#[async_trait]
impl Executor for ProcessExecutor {
    async fn execute(&self, run: Arc<Run>) -> Ending {
        match self.run(&run).await {
            Ok(ending) => ending,
            Err(error) => Ending::failed(FailureCause::Failed, describe(&error)),
        }
    }
}

/// How the program itself ended, as its warden said.
#[derive(Debug, Clone, PartialEq, Eq)]
enum ProgramVerdict {
    Unknown,
    CannotStart { permanent: bool, text: String },
    Exit(ProgramExit),
}

/// Follows one warden: passes deadlines on and carries out orders to stop.
struct Supervision<'run> {
    run: &'run Run,
    warden: Warden,
    verdict: ProgramVerdict,
    /// Whether SIGTERM or SIGKILL was sent on order.
    termed: bool,
    stop: Stop,
    term_at: Option<Duration>,
    kill_at: Option<Duration>,
    give_up_at: Option<Duration>,
    look_at: Option<Duration>,
    /// Whether the last look found the warden stopped.
    stopped: bool,
}

impl<'run> Supervision<'run> {
    fn new(run: &'run Run, warden: Warden) -> Self {
        Self {
            run,
            warden,
            verdict: ProgramVerdict::Unknown,
            termed: false,
            stop: Stop::None,
            term_at: None,
            kill_at: None,
            give_up_at: None,
            look_at: Some(Duration::ZERO),
            stopped: false,
        }
    }

    /// Returns when the tree is empty (true) or the warden is gone or frozen (false).
    async fn until_empty(&mut self) -> bool {
        let clock = Arc::clone(&self.run.control.session.runtime.clock);
        let mut stops = self.run.control.stop();
        let mut deadlines = self.run.deadline.clone();
        stops.mark_changed();
        deadlines.mark_changed();
        loop {
            let next =
                [self.term_at, self.kill_at, self.give_up_at, self.look_at].into_iter().flatten().min();
            let timer = async {
                match next {
                    Some(at) => clock.sleep_until(at).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                report = self.warden.report() => match report {
                    WardenReport::Said(Report::Empty) => return true,
                    WardenReport::Said(report) => self.note(report),
                    WardenReport::Gone => return false,
                },
                Ok(()) = deadlines.changed() => {
                    let deadline = *deadlines.borrow_and_update();
                    self.warden.order(Order::Deadline(deadline)).await;
                }
                Ok(()) = stops.changed() => {
                    let stop = *stops.borrow_and_update();
                    self.plan(stop, clock.boottime());
                }
                () = timer => {
                    if !self.carry_out(clock.boottime()).await {
                        return false;
                    }
                }
            }
        }
    }

    fn note(&mut self, report: Report) {
        self.verdict = match report {
            Report::CannotStart { permanent, text } => ProgramVerdict::CannotStart { permanent, text },
            Report::Exited(code) => ProgramVerdict::Exit(ProgramExit::Code(code)),
            Report::Signalled(signal) => ProgramVerdict::Exit(ProgramExit::Signal(signal)),
            // The worker was frozen or cut off past its trust window, whatever it has heard since: what the
            // program did last is no verdict.
            Report::Overdue => return self.run.control.raise_stop(Stop::LeaseLost),
            Report::Empty => return,
        };
    }

    /// Sets the times for SIGTERM and SIGKILL; a graver order only ever brings them forward.
    fn plan(&mut self, stop: Stop, now: Duration) {
        let options = &self.run.control.session.options;
        let (term, kill) = match stop {
            Stop::None => return,
            Stop::Drain => (options.drain_notice, options.drain_notice + options.drain_kill),
            Stop::TimedOut | Stop::Cancel => (Duration::ZERO, options.stop_kill),
            Stop::LeaseLost => (Duration::ZERO, Duration::ZERO),
        };
        self.stop = stop;
        let sooner = |old: Option<Duration>, new| Some(old.map_or(new, |old: Duration| old.min(new)));
        if !self.termed {
            self.term_at = sooner(self.term_at, now + term);
        }
        self.kill_at = sooner(self.kill_at, now + kill);
    }

    /// Does what is due; false when the warden has to be given up.
    async fn carry_out(&mut self, now: Duration) -> bool {
        if self.give_up_at.is_some_and(|at| at <= now) {
            return false;
        }
        if self.look_at.is_some_and(|at| at <= now) {
            let stopped = self.warden.is_stopped();
            if stopped && self.stopped {
                return false;
            }
            self.stopped = stopped;
            self.look_at = Some(now + WARDEN_LOOK);
        }
        if self.kill_at.is_some_and(|at| at <= now) {
            self.warden.order(Order::Kill).await;
            self.termed = true;
            self.term_at = None;
            self.kill_at = None;
            self.give_up_at = Some(now + WARDEN_PATIENCE);
        } else if self.term_at.is_some_and(|at| at <= now) {
            self.warden.order(Order::Term).await;
            self.termed = true;
            self.term_at = None;
        }
        true
    }
}

/// The ending, from the order to stop, whether it was enforced, and the program's own end.
fn judge(stop: Stop, termed: bool, verdict: ProgramVerdict, tail: &str) -> Ending {
    if stop >= Stop::Cancel {
        return Ending::Stopped(stop);
    }
    let failed = |cause, error, exit| Ending::Failed { cause, error, exit };
    match verdict {
        ProgramVerdict::CannotStart { permanent, text } => {
            let cause = if permanent { FailureCause::Permanent } else { FailureCause::Failed };
            Ending::failed(cause, text)
        }
        ProgramVerdict::Exit(exit) if stop == Stop::TimedOut && termed => {
            failed(FailureCause::TimedOut, with_tail("it ran longer than its timeout", tail), Some(exit))
        }
        ProgramVerdict::Unknown if stop == Stop::TimedOut && termed => {
            failed(FailureCause::TimedOut, with_tail("it ran longer than its timeout", tail), None)
        }
        ProgramVerdict::Exit(ProgramExit::Code(0)) if !termed => Ending::Done,
        _ if stop == Stop::Drain => Ending::Stopped(Stop::Drain),
        ProgramVerdict::Exit(exit) => {
            let text = match exit {
                ProgramExit::Code(code) => format!("the program ended with exit code {code}"),
                ProgramExit::Signal(signal) => {
                    format!("signal {signal}{} ended the program", signal_name(signal))
                }
            };
            failed(FailureCause::Failed, with_tail(&text, tail), Some(exit))
        }
        ProgramVerdict::Unknown => failed(
            FailureCause::Failed,
            with_tail("the program's warden was killed or stopped, and the program was ended with it", tail),
            None,
        ),
    }
}

/// The text and the last line of output, so that one line tells; then the last output whole, where it is more.
fn with_tail(text: &str, tail: &str) -> String {
    let tail = tail.trim();
    match tail.rsplit_once('\n') {
        None if tail.is_empty() => text.to_owned(),
        None => format!("{text}: {tail}"),
        Some((_, last)) => format!("{text}: {last}\n{tail}"),
    }
}

fn signal_name(signal: i32) -> &'static str {
    match signal {
        1 => " (SIGHUP)",
        2 => " (SIGINT)",
        6 => " (SIGABRT)",
        9 => " (SIGKILL)",
        11 => " (SIGSEGV)",
        15 => " (SIGTERM)",
        _ => "",
    }
}

/// The state to seal: whatever is in the state folder.
pub(crate) async fn current_state(run: &Run) -> Result<Vec<u8>, StageError> {
    let folder = run.folder.state();
    let spawner = &run.control.session.runtime.spawner;
    crate::stage::blocking(spawner.as_ref(), move || pack_state(&folder)).await
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exit(code: i32) -> ProgramVerdict {
        ProgramVerdict::Exit(ProgramExit::Code(code))
    }

    #[test]
    fn only_a_true_exit_0_that_nobody_forced_is_success() {
        assert_eq!(judge(Stop::None, false, exit(0), ""), Ending::Done);
        assert_eq!(judge(Stop::Drain, false, exit(0), ""), Ending::Done);
        assert_eq!(judge(Stop::Drain, true, exit(0), ""), Ending::Stopped(Stop::Drain));
        assert_eq!(judge(Stop::Drain, false, exit(1), ""), Ending::Stopped(Stop::Drain));
        assert_eq!(judge(Stop::Cancel, false, exit(0), ""), Ending::Stopped(Stop::Cancel));
        assert_eq!(judge(Stop::LeaseLost, true, exit(0), ""), Ending::Stopped(Stop::LeaseLost));
    }

    #[test]
    fn a_failure_names_code_or_signal_and_shows_the_last_output() {
        let text = |ending| match ending {
            Ending::Failed { error, .. } => error,
            other => panic!("{other:?}"),
        };
        assert_eq!(text(judge(Stop::None, false, exit(3), "oh\n")), "the program ended with exit code 3: oh");
        assert_eq!(
            text(judge(Stop::None, false, exit(3), "one\ntwo\n")),
            "the program ended with exit code 3: two\none\ntwo"
        );
        let killed = ProgramVerdict::Exit(ProgramExit::Signal(9));
        assert_eq!(text(judge(Stop::None, false, killed, "")), "signal 9 (SIGKILL) ended the program");
        assert!(text(judge(Stop::None, false, ProgramVerdict::Unknown, "")).contains("warden"));
        assert!(text(judge(Stop::TimedOut, true, exit(143), "")).contains("timeout"));
    }
}
