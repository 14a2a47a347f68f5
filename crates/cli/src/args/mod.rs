//! What people can type.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueHint};
use protocol::{JobId, Phase, Timestamp, UserProgress};

use crate::logging::LogArgs;
use crate::parse;
use crate::printer::Output;

mod http;

#[cfg(any(feature = "embedded", feature = "fleet"))]
pub(crate) use http::HttpArgs;
pub(crate) use http::{TokenAction, TokenArgs};

const ROOMS: &str = "The rooms of an installation, in place of a data folder";

/// Long jobs whose results are published once.
#[derive(Debug, Parser)]
#[command(name = "remora", version, propagate_version = true, arg_required_else_help = true)]
#[command(
    after_help = "Exit codes: 0 done, 1 failed, 2 wrong usage, 3 cancelled, 4 no such job or result, 5 refused, 130 left."
)]
pub(crate) struct Arguments {
    /// The data folder.
    #[arg(long, global = true, env = "REMORA_DIR", default_value = "./.remora", value_hint = ValueHint::DirPath)]
    pub(crate) dir: PathBuf,
    /// The durable store of an installation: postgres://user:password@host/database?schema=remora  [else: DATABASE_URL]
    #[arg(long, global = true, env = "REMORA_DURABLE", hide_env_values = true, value_name = "URL", help_heading = ROOMS)]
    pub(crate) durable: Option<String>,
    /// Its coordination store: redis://…, rediss://… or postgres://…  [else: REDIS_URL]
    #[arg(long, global = true, env = "REMORA_COORDINATION", hide_env_values = true, value_name = "URL", help_heading = ROOMS)]
    pub(crate) coordination: Option<String>,
    /// Where its results go: s3://… or file:/…
    #[arg(long, global = true, env = "REMORA_TARGET", hide_env_values = true, value_name = "URL", help_heading = ROOMS)]
    pub(crate) target: Option<String>,
    /// The URL of a server's HTTP API, in place of rooms and data folder. REMORA_API_TOKEN is its token.
    #[arg(long, global = true, env = "REMORA_URL", value_name = "URL", help_heading = ROOMS)]
    pub(crate) url: Option<String>,
    /// Ask the rooms or the data folder, whatever REMORA_URL says.
    #[arg(long, global = true, help_heading = ROOMS)]
    pub(crate) direct: bool,
    /// The form of data on standard output.
    #[arg(long, short, global = true, value_enum, default_value_t = Output::Table)]
    pub(crate) output: Output,
    /// Say more of what happens inside (twice: much more).
    #[arg(long, short, global = true, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Run a program as a job, watch it, and print where its result is.
    Run(RunArgs),
    /// Own the data folder: keep workers running until told to stop.
    Dev(DevArgs),
    /// Work for the owner of a data folder or on the rooms of an installation, from a process of your own.
    Worker(WorkerArgs),
    /// Keep the rooms of an installation in order: dispatch, reap, retry, cancel, clean up. Any number may run.
    Server(ServerArgs),
    /// Make, list and revoke the tokens that the HTTP API asks for.
    Token(TokenArgs),
    /// Submit a job and print its id.
    Submit(SubmitArgs),
    /// List jobs, newest first.
    List(ListArgs),
    /// Show a job with its attempts.
    Show(JobArg),
    /// Say what a job waits for, why its attempts ended, and what comes next.
    Why(JobArg),
    /// Show what each room holds of a job, side by side, with the spec's invariants evaluated on it.
    Inspect(JobArg),
    /// Watch a job until it ends.
    Watch(JobArg),
    /// Print the log of a job's last attempt, or of another one.
    Logs(LogsArgs),
    /// Cancel jobs: nothing of them will be published.
    Cancel(JobsArg),
    /// Retry jobs: waiting ones at once, ended ones as new jobs.
    Retry(JobsArg),
    /// List the files of a job's result, print one, or print where the result lies.
    Result(ResultArgs),
    /// List workers with their process ids and attempts.
    Workers,
    /// List, pause and resume queues.
    Queues(QueuesArgs),
    /// Show or change limits.
    Limits(LimitsArgs),
    /// Bring the schema of a durable store in PostgreSQL up to date, look at it, or remove it.
    #[cfg(feature = "fleet")]
    Migrate(MigrateArgs),
    /// See jobs survive a killed worker, a frozen one, and the loss of coordination.
    Demo(DemoArgs),
    /// Measure what Remora itself costs, with jobs that do nothing.
    Bench(BenchArgs),
    /// Examine what Remora stands on: versions, settings, permissions, reachability, clocks, space.
    Doctor,
    /// Replay recorded events: is every step one of the spec's?
    Audit(AuditArgs),
    /// For programs that run as jobs: talk to the worker.
    Attempt(AttemptArgs),
    /// Print a completion script for a shell.
    Completions(CompletionsArgs),
}

/// What a job asks for.
#[derive(Debug, Args)]
pub(crate) struct JobOptions {
    /// The kind of work; `exec` for programs unless said.
    #[arg(long)]
    pub(crate) kind: Option<String>,
    /// The queue.
    #[arg(long, default_value = "default")]
    pub(crate) queue: String,
    /// From 1 (first) to 4.
    #[arg(long, default_value_t = 2)]
    pub(crate) priority: u8,
    /// Not before this time, such as 2026-12-24T18:00:00Z.
    #[arg(long, value_parser = parse::moment, conflicts_with = "wait")]
    pub(crate) at: Option<Timestamp>,
    /// Not before this long from now, such as 10m.
    #[arg(long = "in", value_name = "TIME", value_parser = parse::duration, allow_hyphen_values = true, id = "wait")]
    pub(crate) wait: Option<Duration>,
    /// How many attempts it may have: 1 to 32767 [default: 25, for `run` 3].
    #[arg(long, allow_hyphen_values = true)]
    pub(crate) max_attempts: Option<u32>,
    /// How long one attempt may take; no limit unless said.
    #[arg(long, value_parser = parse::positive_duration, allow_hyphen_values = true)]
    pub(crate) timeout: Option<Duration>,
    /// The widest delay after the first failure; it doubles with each.
    #[arg(long, value_parser = parse::duration, allow_hyphen_values = true, default_value = "2s")]
    pub(crate) retry_base: Duration,
    /// The widest delay after any failure.
    #[arg(long, value_parser = parse::duration, allow_hyphen_values = true, default_value = "5m")]
    pub(crate) retry_cap: Duration,
    /// The same key and the same request give the same job back.
    #[arg(long)]
    pub(crate) idempotency_key: Option<String>,
    /// Sets a variable for the program. May be given often.
    #[arg(long, value_name = "NAME=VALUE", value_parser = parse::variable)]
    pub(crate) env: Vec<(String, String)>,
    /// The program's working folder [default: this one].
    #[arg(long, value_hint = ValueHint::DirPath)]
    pub(crate) cwd: Option<PathBuf>,
    /// The job's args as JSON; `-` reads them from standard input.
    #[arg(long, visible_alias = "args", value_name = "JSON", allow_hyphen_values = true)]
    pub(crate) arg: Option<String>,
    /// The program and its words.
    #[arg(last = true, value_name = "COMMAND", value_hint = ValueHint::CommandWithArguments)]
    pub(crate) command: Vec<OsString>,
}

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) job: JobOptions,
}

#[derive(Debug, Args)]
pub(crate) struct SubmitArgs {
    #[command(flatten)]
    pub(crate) job: JobOptions,
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct DevArgs {
    #[command(subcommand)]
    pub(crate) action: Option<DevAction>,
    /// Worker processes.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(0..=1000))]
    pub(crate) workers: u32,
    /// Jobs that each worker runs at once.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) slots: u32,
    /// The lease length: a lost worker is noticed after this time [default: what the folder has, 15s at first].
    #[arg(long, value_parser = parse::positive_duration)]
    pub(crate) lease: Option<Duration>,
    /// Further kinds that the workers serve.
    #[arg(long, value_delimiter = ',')]
    pub(crate) kinds: Vec<String>,
    #[cfg(any(feature = "embedded", feature = "fleet"))]
    #[command(flatten)]
    pub(crate) http: HttpArgs,
    #[command(flatten)]
    pub(crate) log: LogArgs,
    /// Record no events.
    #[arg(long)]
    pub(crate) no_events: bool,
    /// The notice that a drain gives to what runs, before SIGTERM.
    #[arg(long, hide = true, value_parser = parse::duration)]
    pub(crate) drain_notice: Option<Duration>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum DevAction {
    /// Lose the coordination store of a running owner, or the pool that --coordination names: nothing is lost by it.
    LoseCoordination,
}

#[derive(Debug, Args)]
pub(crate) struct WorkerArgs {
    /// Jobs to run at once.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) slots: u32,
    /// Its name, for people.
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// The queues to serve [default: all].
    #[arg(long, value_delimiter = ',')]
    pub(crate) queues: Option<Vec<String>>,
    /// Kinds to serve beside `exec`.
    #[arg(long, value_delimiter = ',')]
    pub(crate) kinds: Vec<String>,
    #[command(flatten)]
    pub(crate) log: LogArgs,
    /// Record no events.
    #[arg(long)]
    pub(crate) no_events: bool,
    /// Tell at this address of loopback how the worker is: /healthz, /readyz, /metrics [default: nowhere].
    #[arg(long, value_name = "ADDR")]
    pub(crate) health: Option<std::net::SocketAddr>,
    /// The notice that a drain gives to what runs, before SIGTERM.
    #[arg(long, hide = true, value_parser = parse::duration)]
    pub(crate) drain_notice: Option<Duration>,
}

#[derive(Debug, Args)]
pub(crate) struct ServerArgs {
    /// Worker processes to keep on this machine, too.
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=1000))]
    pub(crate) workers: u32,
    /// Slots of each of them.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) slots: u32,
    /// Changes how long a lease lives without renewal, for the whole installation and for good.
    #[arg(long, value_parser = parse::duration)]
    pub(crate) lease: Option<Duration>,
    #[cfg(any(feature = "embedded", feature = "fleet"))]
    #[command(flatten)]
    pub(crate) http: HttpArgs,
    #[command(flatten)]
    pub(crate) log: LogArgs,
    /// Record no events.
    #[arg(long)]
    pub(crate) no_events: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Only jobs in these phases.
    #[arg(long, value_delimiter = ',')]
    pub(crate) phase: Vec<Phase>,
    /// Only this kind.
    #[arg(long)]
    pub(crate) kind: Option<String>,
    /// Only this queue.
    #[arg(long)]
    pub(crate) queue: Option<String>,
    /// Only jobs that run under this worker now: its name or its incarnation.
    #[arg(long)]
    pub(crate) worker: Option<String>,
    /// Only jobs with this text in their id, kind, command or last error.
    #[arg(long)]
    pub(crate) text: Option<String>,
    /// Only jobs accepted at or after this time.
    #[arg(long, value_name = "TIME", value_parser = parse::moment)]
    pub(crate) since: Option<Timestamp>,
    /// Only jobs accepted before this time.
    #[arg(long, value_name = "TIME", value_parser = parse::moment)]
    pub(crate) until: Option<Timestamp>,
    /// Only jobs older than this one.
    #[arg(long, value_name = "JOB")]
    pub(crate) before: Option<JobId>,
    /// At most so many.
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) limit: u32,
}

#[derive(Debug, Args)]
pub(crate) struct JobArg {
    /// The job.
    pub(crate) job: JobId,
}

#[derive(Debug, Args)]
pub(crate) struct JobsArg {
    /// The jobs.
    #[arg(required = true)]
    pub(crate) jobs: Vec<JobId>,
}

#[derive(Debug, Args)]
pub(crate) struct LogsArgs {
    /// The job.
    pub(crate) job: JobId,
    /// Go on printing until the job ends.
    #[arg(long, short)]
    pub(crate) follow: bool,
    /// Which attempt: 1, 2, 3 … [default: the last]
    #[arg(long)]
    pub(crate) attempt: Option<u32>,
}

#[derive(Debug, Args)]
pub(crate) struct ResultArgs {
    /// The job.
    pub(crate) job: JobId,
    /// Print the folder that the result lies in.
    #[arg(long, conflicts_with_all = ["file", "to"])]
    pub(crate) path: bool,
    /// Copy the whole result into this folder, which must be empty or new, checking every digest.
    #[arg(long, value_name = "FOLDER", conflicts_with = "file", value_hint = ValueHint::DirPath)]
    pub(crate) to: Option<PathBuf>,
    /// Print this file of the result.
    pub(crate) file: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct QueuesArgs {
    #[command(subcommand)]
    pub(crate) action: Option<QueuesAction>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum QueuesAction {
    /// Start nothing from a queue until it is resumed; what runs goes on.
    Pause {
        /// The queue.
        queue: String,
    },
    /// Start jobs from a queue again.
    Resume {
        /// The queue.
        queue: String,
    },
}

#[derive(Debug, Args)]
pub(crate) struct LimitsArgs {
    #[command(subcommand)]
    pub(crate) action: Option<LimitsAction>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum LimitsAction {
    /// Change limits. A lowered limit drains; it kills nothing.
    Set {
        /// Jobs that may run at once in the whole pool.
        #[arg(long, allow_hyphen_values = true, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
        global: Option<u32>,
        /// The lease length, 500ms to 1h.
        #[arg(long, value_parser = parse::positive_duration)]
        lease: Option<Duration>,
    },
}

#[cfg(feature = "fleet")]
#[derive(Debug, Args)]
pub(crate) struct MigrateArgs {
    #[command(subcommand)]
    pub(crate) action: Option<MigrateAction>,
    /// The pool's name in a new schema.
    #[arg(long, global = true, default_value = "default")]
    pub(crate) pool: String,
    /// Print the SQL that makes a new schema instead of running it.
    #[arg(long)]
    pub(crate) sql: bool,
}

#[cfg(feature = "fleet")]
#[derive(Debug, Subcommand)]
pub(crate) enum MigrateAction {
    /// Apply what is missing. Safe twice, and at once.
    Up,
    /// Remove the schema with everything in it.
    Down {
        /// That is meant.
        #[arg(long)]
        yes: bool,
    },
    /// Say how far the schema has come.
    Status,
}

#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// The folder whose files the jobs hash and compress [default: this one, without `.git` and build output].
    #[arg(value_hint = ValueHint::DirPath)]
    pub(crate) folder: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct BenchArgs {
    /// Jobs to drain.
    #[arg(long, default_value_t = 1_000, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub(crate) jobs: u64,
    /// Worker processes.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) workers: u32,
    /// Jobs that each worker runs at once.
    #[arg(long, default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) slots: u32,
    /// The folder to measure in, on the disk to be measured [default: the system's folder for temporary files].
    #[arg(long, value_hint = ValueHint::DirPath)]
    pub(crate) at: Option<PathBuf>,
    /// Record no events.
    #[arg(long)]
    pub(crate) no_events: bool,
}

#[derive(Debug, Args)]
pub(crate) struct AuditArgs {
    /// Data folders, or folders of recorded events [default: this data folder].
    #[arg(value_hint = ValueHint::DirPath)]
    pub(crate) folders: Vec<PathBuf>,
    /// Only this job; the pool's places are not counted then.
    #[arg(long)]
    pub(crate) job: Option<JobId>,
}

#[derive(Debug, Args)]
pub(crate) struct AttemptArgs {
    #[command(subcommand)]
    pub(crate) action: AttemptAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AttemptAction {
    /// Show progress, such as `3/10 "third of ten"`.
    Progress {
        /// Steps done, and in all.
        #[arg(value_parser = parse::progress)]
        progress: UserProgress,
        /// A message of at most 1 KiB.
        message: Option<String>,
    },
    /// Make state and output so far durable; returns after the commit.
    Checkpoint {
        /// Steps done, and in all.
        #[arg(long, value_parser = parse::progress)]
        progress: Option<UserProgress>,
        /// A message of at most 1 KiB.
        #[arg(long)]
        message: Option<String>,
    },
    /// Whether to stop: exits with 0 for cancel, 10 for drain, 1 for neither.
    Cancelled,
    /// Who this attempt is.
    Info,
}

#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell.
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
}
