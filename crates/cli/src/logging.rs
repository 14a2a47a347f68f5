//! What happens inside, for people or for programs that read logs.
//!
//! Promises: one line an event on standard error. As JSON each line is one object with `timestamp` (RFC 3339, milliseconds),
//! `level`, `message`, and what the event is about as fields of their own (`job`, `attempt`, `worker`, `action`, `error` …).
//! Does not touch what standard output gets, nor the logs of jobs.

use std::fmt;
use std::io::IsTerminal;

use clap::{Args, ValueEnum};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::FormatTime;

/// The form of the log.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// For programs: one JSON object a line.
    Json,
}

/// Of what keeps running.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct LogArgs {
    /// The form of the log on standard error.
    #[arg(long, value_enum, env = "REMORA_LOG_FORMAT", default_value_t = LogFormat::Text)]
    pub(crate) log_format: LogFormat,
}

impl LogArgs {
    /// The words that tell a worker of this process to do the same.
    pub(crate) fn words(self) -> impl Iterator<Item = std::ffi::OsString> {
        let words = (self.log_format == LogFormat::Json).then_some(["--log-format", "json"]);
        words.into_iter().flatten().map(Into::into)
    }
}

/// UTC, to the millisecond.
struct Moment;

impl FormatTime for Moment {
    fn format_time(&self, writer: &mut Writer<'_>) -> fmt::Result {
        write!(writer, "{:.3}", jiff::Timestamp::now())
    }
}

/// `RUST_LOG` decides; else the level given.
pub(crate) fn start(level: &str, format: LogFormat) {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(level));
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    match format {
        LogFormat::Text => log.with_ansi(std::io::stderr().is_terminal()).with_target(false).init(),
        LogFormat::Json => log
            .json()
            .flatten_event(true)
            .with_current_span(false)
            .with_span_list(false)
            .with_timer(Moment)
            .init(),
    }
}

/// A remark as a line of such a log.
pub(crate) fn json_line(text: &str) -> String {
    let time = format!("{:.3}", jiff::Timestamp::now());
    serde_json::json!({ "timestamp": time, "level": "INFO", "message": text, "target": "remora" }).to_string()
}
