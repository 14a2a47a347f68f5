//! From options to a job.

use std::ffi::OsString;
use std::io::Read;
use std::path::Path;

use protocol::job::check_size;
use protocol::{Command, JobSpec, Priority, RetryPolicy, Timestamp, limit};
use runtime::{Clock, SystemClock};
use serde_json::value::RawValue;

use crate::args::JobOptions;
use crate::failure::{Failure, code};
use crate::parse;

/// The job that the options ask for. Checked whole: nothing is stored of one that is refused.
pub(crate) fn job_spec(options: JobOptions, default_attempts: u32) -> Result<JobSpec, Failure> {
    let command = if options.command.is_empty() {
        None
    } else {
        Some(Command {
            argv: options.command.into_iter().map(|word| text("command", word)).collect::<Result<_, _>>()?,
            cwd: Some(working_folder(options.cwd.as_deref())?),
            env: options.env,
        })
    };
    if command.is_none() && options.kind.is_none() {
        return Err(Failure::usage("there is no command to run")
            .hint("write it after --, as in `remora run -- ./export.sh`"));
    }
    let spec = JobSpec {
        kind: options.kind.unwrap_or_else(|| JobSpec::EXEC.to_owned()),
        queue: options.queue,
        priority: Priority(options.priority),
        args: json_args(options.arg)?,
        command,
        max_attempts: options.max_attempts.unwrap_or(default_attempts),
        scheduled_at: options.at.or_else(|| options.wait.map(|wait| now().plus_ms(parse::ms(wait)))),
        timeout_ms: options.timeout.map(parse::ms),
        retry: RetryPolicy { base_ms: parse::ms(options.retry_base), cap_ms: parse::ms(options.retry_cap) },
        idempotency_key: options.idempotency_key,
    };
    spec.validate().map_err(|violation| Failure::from(violation).with_code(code::USAGE))?;
    Ok(spec)
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

fn json_args(arg: Option<String>) -> Result<String, Failure> {
    let text = match arg.as_deref() {
        None => return Ok("null".to_owned()),
        Some("-") => read_standard_input()?,
        Some(text) => text.to_owned(),
    };
    check_size("args", text.len(), limit::ARGS_BYTES)
        .map_err(|violation| Failure::from(violation).with_code(code::USAGE))?;
    let checked = serde_json::from_str::<&RawValue>(text.trim());
    let bad = |why: String| {
        Failure::usage(format!("args is not JSON: {why}")).hint("quote text twice, as in --arg '\"text\"'")
    };
    let value = checked.map_err(|error| bad(error.to_string()))?.get().to_owned();
    check_strings(&value).map_err(bad)?;
    Ok(value)
}

/// JSON may write what no store can hold: a NUL or half of a surrogate pair.
fn check_strings(json: &str) -> Result<(), String> {
    let mut rest = json;
    let mut high = false;
    while let Some(at) = rest.find('\\') {
        let escape = rest.as_bytes().get(at + 1).copied();
        let code = rest.get(at + 2..at + 6).and_then(|digits| u16::from_str_radix(digits, 16).ok());
        let low = matches!((escape, code), (Some(b'u'), Some(0xdc00..=0xdfff)));
        // A low half stands right behind a high one, and nowhere else.
        let paired = high && low && at == 0;
        if (high || low) && !paired {
            return Err("it has half of a surrogate pair".to_owned());
        }
        match (escape, code) {
            (Some(b'u'), Some(0)) => return Err("it has a text with a NUL".to_owned()),
            (Some(b'u'), Some(code)) => {
                high = matches!(code, 0xd800..=0xdbff);
                rest = &rest[at + 6..];
            }
            _ => {
                high = false;
                rest = rest.get(at + 2..).unwrap_or("");
            }
        }
    }
    if high { Err("it has half of a surrogate pair".to_owned()) } else { Ok(()) }
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
    fn nul_and_half_pairs_are_refused_and_their_harmless_looks_are_not() {
        for good in [r#""\\u0000""#, r#""\ud83d\ude00""#, r#""😀""#, r#"{"a":[1,"\n\\"]}"#, r#""\u00e9\\""#]
        {
            assert_eq!(check_strings(good), Ok(()), "{good}");
        }
        for bad in [
            r#""\u0000""#,
            r#""\ud800""#,
            r#""\ude00""#,
            r#""\ud83dx\ude00""#,
            r#""\ud83d\n""#,
            r#""\ud83d\ud83d\ude00""#,
        ] {
            assert!(check_strings(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn args_are_kept_digit_for_digit_and_bad_ones_refused() {
        let text = r#"{"a":9007199254740993,"f":123456789012345678901234567890,"i":1.0,"j":-0.0}"#;
        assert_eq!(json_args(Some(text.into())).unwrap(), text);
        assert_eq!(json_args(None).unwrap(), "null");
        assert!(json_args(Some("{".into())).unwrap_err().error.to_string().contains("args is not JSON"));
        let deep = "[".repeat(100_000) + &"]".repeat(100_000);
        assert_eq!(json_args(Some(deep.clone())).unwrap(), deep);
    }
}
