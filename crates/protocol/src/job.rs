//! What a job asks for, and the check at the door that every way of submitting shares.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::limit;
use crate::retry::RetryPolicy;
use crate::time::Timestamp;

/// 1 (first) to 4; 2 unless said otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Priority(pub u8);

impl Default for Priority {
    fn default() -> Self {
        Self(2)
    }
}

/// A program to run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Command {
    /// Program and words. Never empty.
    pub argv: Vec<String>,
    /// The working folder; a scratch folder is used where it does not exist on the worker.
    pub cwd: Option<String>,
    /// Added to the program's small environment.
    pub env: Vec<(String, String)>,
}

/// A submission, as stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobSpec {
    /// What kind of work; `exec` for programs unless said otherwise.
    pub kind: String,
    /// The queue; `default` unless said otherwise.
    pub queue: String,
    /// Its place inside the queue.
    pub priority: Priority,
    /// JSON text, kept digit for digit.
    pub args: String,
    /// The program, for jobs that are one.
    pub command: Option<Command>,
    /// The retry budget: 1 to 32,767.
    pub max_attempts: u32,
    /// Not before.
    pub scheduled_at: Option<Timestamp>,
    /// Bounds one attempt, in milliseconds.
    pub timeout_ms: Option<u64>,
    /// Delays after ordinary failures.
    pub retry: RetryPolicy,
    /// The same key and the same request give the same job back.
    pub idempotency_key: Option<String>,
}

impl Default for JobSpec {
    fn default() -> Self {
        Self {
            kind: Self::EXEC.to_owned(),
            queue: "default".to_owned(),
            priority: Priority::default(),
            args: "null".to_owned(),
            command: None,
            max_attempts: 25,
            scheduled_at: None,
            timeout_ms: None,
            retry: RetryPolicy::default(),
            idempotency_key: None,
        }
    }
}

/// The jobs that are offered together: one order inside, one registration of workers.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Window {
    /// The queue's name.
    pub queue: String,
    /// The kind of the jobs.
    pub kind: String,
    /// Their priority.
    pub priority: Priority,
}

/// A place in a window's order: due time, then arrival in the outbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct Position {
    /// When the job fell due.
    pub due: Timestamp,
    /// The order of arrival in the outbox.
    pub sequence: u64,
}

/// What the job itself says of its progress: data, never a decision.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserProgress {
    /// Steps done.
    pub done: u64,
    /// Steps in all, where known.
    pub total: Option<u64>,
    /// A message, at most [`limit::PROGRESS_MESSAGE_BYTES`].
    pub message: Option<String>,
}

/// A field over its limit or of the wrong form. The text names field, value and limit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Violation {
    /// The field's name, as in API and CLI.
    pub field: String,
    /// What it was, cut short.
    pub value: String,
    /// What is allowed.
    pub allowed: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is {}; allowed is {}", self.field, self.value, self.allowed)
    }
}

impl std::error::Error for Violation {}

fn violation(field: &str, value: impl fmt::Display, allowed: impl fmt::Display) -> Violation {
    Violation { field: field.to_owned(), value: value.to_string(), allowed: allowed.to_string() }
}

/// Checks a name that people type: kind, queue, worker. Letters, digits and `_ - . : / + [ ] < >`.
///
/// # Errors
/// Names the field when the name is empty, longer than 128 bytes or has another character.
pub fn check_name(field: &str, name: &str) -> Result<(), Violation> {
    check_size(field, name.len(), limit::NAME_BYTES)?;
    if name.is_empty() {
        return Err(violation(field, "empty", "1 to 128 bytes"));
    }
    match name.chars().find(|letter| !letter.is_alphanumeric() && !"_-.:/+[]<>".contains(*letter)) {
        Some(bad) => Err(violation(
            field,
            format_args!("a name with {:?}", bad),
            "letters, digits and any of _ - . : / + [ ] < >",
        )),
        None => Ok(()),
    }
}

/// Checks the size of a field in bytes.
///
/// # Errors
/// Names field, size and limit when it is over.
pub fn check_size(field: &str, bytes: usize, limit: u64) -> Result<(), Violation> {
    if u64::try_from(bytes).is_ok_and(|bytes| bytes <= limit) {
        return Ok(());
    }
    Err(violation(field, format_args!("{bytes} bytes long"), format_args!("at most {limit} bytes")))
}

/// Checks that a text can be stored everywhere: no NUL.
///
/// # Errors
/// Names the field when there is one.
pub fn check_text(field: &str, text: &str) -> Result<(), Violation> {
    match text.find('\0') {
        Some(at) => Err(violation(field, format_args!("a text with a NUL at byte {at}"), "text without NUL")),
        None => Ok(()),
    }
}

impl JobSpec {
    /// The kind of programs.
    pub const EXEC: &'static str = "exec";

    /// Checks every field. That `args` is JSON is checked by whoever has a JSON reader.
    ///
    /// # Errors
    /// The first field that is wrong, with its value and what is allowed.
    pub fn validate(&self) -> Result<(), Violation> {
        check_name("kind", &self.kind)?;
        check_name("queue", &self.queue)?;
        check_size("args", self.args.len(), limit::ARGS_BYTES)?;
        check_text("args", &self.args)?;
        if !(1..=4).contains(&self.priority.0) {
            return Err(violation("priority", self.priority.0, "1 (first) to 4"));
        }
        if !(1..=limit::MAX_ATTEMPTS).contains(&self.max_attempts) {
            return Err(violation("max_attempts", self.max_attempts, "1 to 32767"));
        }
        if let Some(at) = self.scheduled_at
            && !(Timestamp::MIN..=Timestamp::MAX).contains(&at)
        {
            return Err(violation("scheduled_at", at, "a time in the years 1 to 9999"));
        }
        if self.timeout_ms == Some(0) {
            return Err(violation("timeout", "0 ms", "at least 1 ms"));
        }
        if self.retry.base_ms > self.retry.cap_ms {
            return Err(violation(
                "retry_base",
                format_args!("{} ms", self.retry.base_ms),
                format_args!("at most retry_cap, which is {} ms", self.retry.cap_ms),
            ));
        }
        for (field, ms) in [("timeout", self.timeout_ms.unwrap_or(0)), ("retry_cap", self.retry.cap_ms)] {
            // What stores keep.
            if i64::try_from(ms).is_err() {
                return Err(violation(
                    field,
                    format_args!("{ms} ms"),
                    format_args!("at most {} ms", i64::MAX),
                ));
            }
        }
        if let Some(key) = &self.idempotency_key {
            check_size("idempotency_key", key.len(), limit::IDEMPOTENCY_KEY_BYTES)?;
            check_text("idempotency_key", key)?;
            if key.is_empty() {
                return Err(violation("idempotency_key", "empty", "1 to 256 bytes"));
            }
        }
        self.command.as_ref().map_or(Ok(()), Command::validate)
    }

    /// The window that the job waits in.
    #[must_use]
    pub fn window(&self) -> Window {
        Window { queue: self.queue.clone(), kind: self.kind.clone(), priority: self.priority }
    }
}

impl Command {
    fn validate(&self) -> Result<(), Violation> {
        if self.argv.first().is_none_or(String::is_empty) {
            return Err(violation("command", "empty", "a program and its words"));
        }
        let env = self.env.iter().flat_map(|(name, value)| [name, value]);
        let bytes = self.argv.iter().chain(env).map(|word| word.len() + 1).sum();
        check_size("command", bytes, limit::COMMAND_BYTES)?;
        for word in &self.argv {
            check_text("command", word)?;
        }
        if let Some(cwd) = &self.cwd {
            check_text("cwd", cwd)?;
        }
        for (name, value) in &self.env {
            check_text("env", name)?;
            check_text("env", value)?;
            if name.is_empty() || name.contains('=') {
                return Err(violation("env", format_args!("{name:?}"), "a name without `=`"));
            }
            if name.starts_with("REMORA_") {
                return Err(violation("env", name, "any name but REMORA_…, which the worker sets"));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(change: impl FnOnce(&mut JobSpec)) -> String {
        let mut spec = JobSpec {
            command: Some(Command { argv: vec!["true".into()], cwd: None, env: vec![] }),
            ..JobSpec::default()
        };
        assert_eq!(spec.validate(), Ok(()));
        change(&mut spec);
        spec.validate().unwrap_err().to_string()
    }

    fn command(spec: &mut JobSpec) -> &mut Command {
        spec.command.as_mut().unwrap()
    }

    #[test]
    fn each_field_is_refused_by_name_value_and_limit() {
        assert!(refused(|s| s.kind = String::new()).contains("kind is empty"));
        assert!(refused(|s| s.kind = "a b".into()).contains("kind is a name with ' '"));
        assert!(
            refused(|s| s.queue = "q".repeat(129))
                .contains("queue is 129 bytes long; allowed is at most 128")
        );
        assert!(refused(|s| s.args = "x".repeat(1_048_577)).contains("args is 1048577 bytes long"));
        assert!(refused(|s| s.args = "\"\0\"".into()).contains("args is a text with a NUL at byte 1"));
        assert!(refused(|s| s.priority = Priority(0)).contains("priority is 0"));
        assert!(refused(|s| s.priority = Priority(5)).contains("1 (first) to 4"));
        assert!(refused(|s| s.max_attempts = 0).contains("max_attempts is 0; allowed is 1 to 32767"));
        assert!(refused(|s| s.max_attempts = 32_768).contains("32768"));
        assert!(refused(|s| s.scheduled_at = Some(Timestamp(i64::MAX))).contains("years 1 to 9999"));
        assert!(refused(|s| s.timeout_ms = Some(0)).contains("timeout is 0 ms"));
        assert!(refused(|s| s.timeout_ms = Some(u64::MAX)).contains("timeout is 18446744073709551615 ms"));
        assert!(refused(|s| s.retry.cap_ms = u64::MAX).contains("retry_cap is 18446744073709551615 ms"));
        assert!(refused(|s| s.retry.base_ms = 300_001).contains("retry_base is 300001 ms"));
        assert!(refused(|s| s.idempotency_key = Some("k".repeat(257))).contains("257 bytes"));
        assert!(refused(|s| s.idempotency_key = Some(String::new())).contains("idempotency_key is empty"));
        assert!(refused(|s| s.idempotency_key = Some("\0".into())).contains("NUL"));
        assert!(refused(|s| command(s).argv.clear()).contains("command is empty"));
        assert!(refused(|s| command(s).argv.push("\0".into())).contains("command is a text with a NUL"));
        assert!(refused(|s| command(s).argv.push("x".repeat(1 << 20))).contains("command is 1048582 bytes"));
        assert!(refused(|s| command(s).cwd = Some("\0".into())).contains("cwd"));
        assert!(refused(|s| command(s).env.push(("A=B".into(), String::new()))).contains("without `=`"));
        assert!(refused(|s| command(s).env.push(("A".into(), "\0".into()))).contains("NUL"));
        assert!(refused(|s| command(s).env.push(("REMORA_X".into(), "1".into()))).contains("REMORA_X"));
    }

    #[test]
    fn the_limits_themselves_are_allowed() {
        let spec = JobSpec {
            kind: "k".repeat(128),
            args: "x".repeat(1_048_576),
            idempotency_key: Some("k".repeat(256)),
            max_attempts: 32_767,
            scheduled_at: Some(Timestamp::MAX),
            ..JobSpec::default()
        };
        assert_eq!(spec.validate(), Ok(()));
    }
}
