//! From options to a job.

use std::ffi::OsString;
use std::io::Read;
use std::path::Path;

use api::text::check_strings;
use api::v1::Submission;
use protocol::job::check_size;
use protocol::{Timestamp, limit};
use runtime::{Clock, SystemClock};
use serde_json::value::RawValue;

use crate::args::JobOptions;
use crate::failure::{Failure, code};
use crate::parse;

/// The submission that the options ask for. Whoever accepts it checks it whole: nothing is stored of one that is refused.
pub(crate) fn submission(options: JobOptions, default_attempts: u32) -> Result<Submission, Failure> {
    if options.command.is_empty() && options.kind.is_none() {
        return Err(Failure::usage("there is no command to run")
            .hint("write it after --, as in `remora run -- ./export.sh`"));
    }
    let is_program = !options.command.is_empty();
    let words = options.command.into_iter().map(|word| text("command", word)).collect::<Result<_, _>>()?;
    Ok(Submission {
        kind: options.kind,
        queue: Some(options.queue),
        priority: Some(options.priority),
        args: options.arg.map(json_args).transpose()?,
        command: is_program.then_some(words),
        cwd: if is_program { Some(working_folder(options.cwd.as_deref())?) } else { None },
        env: options.env.into_iter().collect(),
        max_attempts: Some(options.max_attempts.unwrap_or(default_attempts)),
        scheduled_at: options
            .at
            .or_else(|| options.wait.map(|wait| now().plus_ms(parse::ms(wait))))
            .map(Into::into),
        timeout_ms: options.timeout.map(parse::ms),
        retry_base_ms: Some(parse::ms(options.retry_base)),
        retry_cap_ms: Some(parse::ms(options.retry_cap)),
        idempotency_key: options.idempotency_key,
    })
}

fn now() -> Timestamp {
    Timestamp(i64::try_from(SystemClock.unix_ms()).unwrap_or(i64::MAX))
}

fn text(field: &str, word: OsString) -> Result<String, Failure> {
    word.into_string().map_err(|word| {
        Failure::usage(format!("{field} has the word {word:?}, which is not UTF-8"))
            .hint("give odd file names through a file, not as a word")
    })
}

fn working_folder(asked: Option<&Path>) -> Result<String, Failure> {
    let folder = std::path::absolute(asked.unwrap_or(Path::new(".")))?;
    if asked.is_some() && !folder.is_dir() {
        return Err(Failure::usage(format!("cwd is {}, which is not a folder", folder.display())));
    }
    text("cwd", folder.into_os_string())
}

fn json_args(arg: String) -> Result<Box<RawValue>, Failure> {
    let text = if arg == "-" { read_standard_input()? } else { arg };
    check_size("args", text.len(), limit::ARGS_BYTES)
        .map_err(|violation| Failure::from(violation).with_code(code::USAGE))?;
    let bad = |why: &dyn std::fmt::Display| {
        Failure::usage(format!("args is not JSON: {why}")).hint("quote text twice, as in --arg '\"text\"'")
    };
    let value = serde_json::from_str::<Box<RawValue>>(text.trim()).map_err(|error| bad(&error))?;
    check_strings(value.get()).map_err(|why| bad(&format_args!("it has {why}")))?;
    Ok(value)
}

fn read_standard_input() -> Result<String, Failure> {
    let mut bytes = Vec::new();
    // A little more than allowed is enough to refuse it; the rest is not read.
    std::io::stdin().take(2 * limit::ARGS_BYTES).read_to_end(&mut bytes)?;
    String::from_utf8(bytes).map_err(|_| Failure::usage("args on standard input is not UTF-8"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn args_are_kept_digit_for_digit_and_bad_ones_refused() {
        let text = r#"{"a":9007199254740993,"f":123456789012345678901234567890,"i":1.0,"j":-0.0}"#;
        assert_eq!(json_args(text.into()).unwrap().get(), text);
        assert!(json_args("{".into()).unwrap_err().error.to_string().contains("args is not JSON"));
        let deep = "[".repeat(100_000) + &"]".repeat(100_000);
        assert_eq!(json_args(deep.clone()).unwrap().get(), deep);
        assert!(json_args(r#""\u0000""#.into()).unwrap_err().error.to_string().contains("a text with a NUL"));
    }
}
