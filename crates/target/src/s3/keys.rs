//! Keys: of parts and logs generated, of a result's files made from their names.
//!
//! Promises that a name of any letters and any length has a key of its own, which any store takes: at most 1,000 bytes,
//! no name in it over 255 (stores over a file system have that limit), only letters, digits, `-`, `_`, `.` and `%`.

use crate::manifest::{Digest, Part};
use crate::port::{StageId, TargetFault};

const NAME_BYTES: usize = 255;
/// S3 takes 1,024.
const KEY_BYTES: usize = 1000;

fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.')
}

/// Everything but plain letters and the bytes in `kept` as `%` and two digits.
pub(super) fn escape(text: &str, kept: &[u8]) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if is_plain(byte) || kept.contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

/// The reverse; `None` where it is no text.
pub(super) fn unescape(text: &str) -> Option<String> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let digits = [rest.next()?, rest.next()?];
            out.push(u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?);
        } else {
            out.push(byte);
        }
    }
    String::from_utf8(out).ok()
}

/// Where a stage's results lie.
pub(super) fn out(stage: &StageId) -> String {
    format!("{}/out", stage.prefix())
}

/// The key of a result's file. `room`: the bytes that the prefix of all keys takes.
pub(super) fn of_result(stage: &StageId, path: &str, room: usize) -> String {
    let escaped = escape(path, b"/");
    let key = format!("{}/{escaped}", out(stage));
    let fits = key.len() + room <= KEY_BYTES && escaped.split('/').all(|name| name.len() <= NAME_BYTES);
    // No escaped name is `~`.
    if fits { key } else { format!("{}/~/{}", out(stage), Digest::of(path.as_bytes())) }
}

pub(super) fn of_part(stage: &StageId, number: u64) -> String {
    format!("{}/p/{number:06}", stage.prefix())
}

pub(super) fn of_log(stage: &StageId) -> String {
    format!("{}/logs/{}", stage.job, stage.name())
}

/// The stage that a key belongs to; `None` for logs and strangers.
pub(super) fn stage_of(key: &str) -> Option<StageId> {
    let mut names = key.split('/');
    let job = names.next()?.parse().ok()?;
    let (token, attempt) = names.next()?.split_once('-')?;
    names.next()?;
    Some(StageId { job, token: protocol::Token(token.parse().ok()?), attempt: attempt.parse().ok()? })
}

/// That a key stays inside of the room: it came from a row, and rows can be damaged.
pub(super) fn checked(key: &str) -> Result<&str, TargetFault> {
    if key.split('/').all(|name| !matches!(name, "" | "." | "..")) {
        Ok(key)
    } else {
        Err(TargetFault::bad(format!("the part key {key:?} leads out")))
    }
}

pub(super) fn all_checked<'a>(parts: impl IntoIterator<Item = &'a Part>) -> Result<(), TargetFault> {
    parts.into_iter().try_for_each(|part| checked(&part.key).map(drop))
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::{AttemptId, JobId, Token};
    use std::collections::BTreeSet;

    fn stage() -> StageId {
        StageId { job: JobId(1), token: Token(2), attempt: AttemptId(3) }
    }

    #[test]
    fn every_name_has_a_key_of_its_own_that_any_store_takes() {
        let long = "x".repeat(256);
        let deep = "größe/".repeat(100) + "x";
        let names =
            ["a", "%61", "a%2Fb", "a/b", "~", "~/x", "größe", "\u{1f41f}", " ", "+", "a\nb", &long, &deep];
        let keys: BTreeSet<_> = names.iter().map(|name| of_result(&stage(), name, 400)).collect();
        assert_eq!(keys.len(), names.len());
        for key in &keys {
            assert!(key.len() + 400 <= 1000, "{key}");
            assert!(key.split('/').all(|name| name.len() <= 255 && !matches!(name, "" | "." | "..")));
            assert!(key.bytes().all(|byte| is_plain(byte) || matches!(byte, b'/' | b'%' | b'~')), "{key}");
            assert!(checked(key).is_ok() && stage_of(key) == Some(stage()));
        }
        let short = names.iter().take(11).map(|name| of_result(&stage(), name, 0));
        for (key, name) in short.zip(names) {
            assert_eq!(unescape(&key[out(&stage()).len() + 1..]).as_deref(), Some(name));
        }
    }

    #[test]
    fn logs_and_strangers_belong_to_no_stage() {
        assert_eq!(stage_of(&of_part(&stage(), 1)), Some(stage()));
        let strangers =
            [of_log(&stage()), stage().prefix(), "a/1-b/c".into(), String::new(), "logs/x".into()];
        for key in strangers {
            assert_eq!(stage_of(&key), None, "{key}");
        }
    }

    #[test]
    fn what_is_escaped_reads_back_and_half_an_escape_does_not() {
        assert_eq!(escape("a b/ü", b"/"), "a%20b/%C3%BC");
        assert_eq!(unescape("a%20b/%C3%BC").as_deref(), Some("a b/ü"));
        for bad in ["%", "%4", "%zz", "%ff"] {
            assert_eq!(unescape(bad), None, "{bad}");
        }
    }
}
