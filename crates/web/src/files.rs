//! Files by range, after RFC 9110: one range or the whole.
//!
//! Promises: a range that is not understood, or of several parts, is passed over or refused as the RFC says; a name given
//! by a job can neither end a header nor make a browser open the file.

use std::ops::Range;

use api::v1::Code;
use axum::http::{HeaderMap, HeaderValue, header};
use base64::Engine as _;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::problem::{Refused, Reply};

/// What RFC 8187 leaves as it is.
const ATTRIBUTE: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'!')
    .remove(b'#')
    .remove(b'$')
    .remove(b'&')
    .remove(b'+')
    .remove(b'-')
    .remove(b'.')
    .remove(b'^')
    .remove(b'_')
    .remove(b'`')
    .remove(b'|')
    .remove(b'~');

/// What of a file was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Part {
    /// All of it.
    Whole,
    /// These bytes, of which there is at least one.
    Of(Range<u64>),
}

/// The entity tag of a file, where its digest is known.
pub(crate) fn tag(digest: Option<&str>) -> Option<String> {
    digest.map(|digest| format!("\"blake3-{digest}\""))
}

/// Whether one of the tags in a header is this one.
pub(crate) fn names(headers: &HeaderMap, name: header::HeaderName, tag: &str) -> bool {
    let all = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
    let mut tags = all.flat_map(|value| value.split(',')).map(|one| one.trim().trim_start_matches("W/"));
    tags.any(|one| one == tag || one == "*")
}

fn unsatisfiable(length: u64, detail: String) -> Refused {
    let refused = Refused::new(Code::Invalid, detail).status(axum::http::StatusCode::RANGE_NOT_SATISFIABLE);
    refused.field("Range").allowed(&format!("one range within {length} bytes"))
}

/// What the header `Range` asks for of a file of this length and tag.
pub(crate) fn part(headers: &HeaderMap, length: u64, tag: Option<&str>) -> Reply<Part> {
    let Some(value) = headers.get(header::RANGE).and_then(|value| value.to_str().ok()) else {
        return Ok(Part::Whole);
    };
    let holds = |value: &HeaderValue| tag.is_some_and(|tag| value.as_bytes() == tag.as_bytes());
    if headers.get(header::IF_RANGE).is_some_and(|condition| !holds(condition)) {
        return Ok(Part::Whole);
    }
    let Some(set) = value.trim().strip_prefix("bytes=") else { return Ok(Part::Whole) };
    if set.contains(',') {
        return Err(unsatisfiable(
            length,
            format!("`{}` asks for several ranges", value.chars().take(64).collect::<String>()),
        ));
    }
    let Some((first, last)) = set.trim().split_once('-') else { return Ok(Part::Whole) };
    let number = |text: &str| {
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        // A number beyond all lengths stands behind the end.
        digits.then(|| text.parse::<u64>().unwrap_or(u64::MAX))
    };
    let range = match (number(first), number(last)) {
        (Some(first), Some(last)) if first <= last => first..last.saturating_add(1).min(length),
        (Some(first), None) if last.is_empty() => first..length,
        (None, Some(suffix)) if first.is_empty() => length.saturating_sub(suffix)..length,
        _ => return Ok(Part::Whole),
    };
    if range.start >= range.end {
        return Err(unsatisfiable(length, format!("the range lies outside the file's {length} bytes")));
    }
    Ok(Part::Of(range))
}

/// The header that has a browser save the file under its own name.
pub(crate) fn disposition(path: &str) -> String {
    let name = path.rsplit('/').next().unwrap_or(path);
    let plain: String = name
        .chars()
        .map(|letter| if letter.is_ascii_alphanumeric() || "-_. ".contains(letter) { letter } else { '_' })
        .collect();
    format!("attachment; filename=\"{plain}\"; filename*=UTF-8''{}", utf8_percent_encode(name, ATTRIBUTE))
}

/// The digest as RFC 9530 writes one.
pub(crate) fn digest(hexadecimal: &str) -> Option<String> {
    let hash = blake3::Hash::from_hex(hexadecimal).ok()?;
    Some(format!("blake3=:{}:", base64::engine::general_purpose::STANDARD.encode(hash.as_bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(range: &str, condition: Option<&str>) -> Reply<Part> {
        let mut headers = HeaderMap::new();
        headers.insert(header::RANGE, range.parse().unwrap());
        if let Some(condition) = condition {
            headers.insert(header::IF_RANGE, condition.parse().unwrap());
        }
        part(&headers, 100, Some("\"blake3-x\""))
    }

    #[test]
    fn one_range_is_given_and_others_are_passed_over_or_refused() {
        for (text, range) in [
            ("bytes=0-0", 0..1),
            ("bytes=10-19", 10..20),
            ("bytes=90-", 90..100),
            ("bytes=-1", 99..100),
            ("bytes=-1000", 0..100),
            ("bytes=50-99999999999999999999999", 50..100),
        ] {
            assert_eq!(asked(text, None).unwrap(), Part::Of(range), "{text}");
        }
        for text in ["bytes=5-4", "bytes=x-y", "bytes=", "bytes=-", "lines=1-2", "bytes=+1-2", "bytes 0-1"] {
            assert_eq!(asked(text, None).unwrap(), Part::Whole, "{text}");
        }
        for text in ["bytes=100-", "bytes=-0", "bytes=1000-2000", "bytes=0-1,5-6"] {
            assert_eq!(asked(text, None).unwrap_err().0.status, 416, "{text}");
        }
        assert_eq!(asked("bytes=0-1", Some("\"blake3-x\"")).unwrap(), Part::Of(0..2));
        assert_eq!(asked("bytes=0-1", Some("\"other\"")).unwrap(), Part::Whole);
        assert_eq!(part(&HeaderMap::new(), 0, None).unwrap(), Part::Whole);
    }

    #[test]
    fn a_name_cannot_leave_its_header() {
        let name = disposition("a/\"><img src=x>\r\nX: é;.html");
        assert_eq!(
            name,
            "attachment; filename=\"___img src_x___X_ __.html\"; filename*=UTF-8''%22%3E%3Cimg%20src%3Dx%3E%0D%0AX%3A%20%C3%A9%3B.html"
        );
        assert!(HeaderValue::from_str(&name).is_ok());
    }
}
