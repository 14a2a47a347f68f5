//! How moments, lengths of time, sizes and counts read.

use std::time::{SystemTime, UNIX_EPOCH};

use api::v1::Moment;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use protocol::{Phase, Timestamp};

/// What may stand in a path as it is; `/` stays between names.
const PATH: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// A moment for people: how long ago, and exactly.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct When {
    pub(crate) exact: String,
    pub(crate) relative: String,
}

/// The moment now, on this process's clock.
pub(crate) fn now() -> Moment {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Moment(Timestamp(i64::try_from(since.as_millis()).unwrap_or(i64::MAX)))
}

/// From one moment to a later one, in milliseconds; 0 where it is earlier.
pub(crate) fn between(from: Moment, until: Moment) -> u64 {
    u64::try_from(until.0.0.saturating_sub(from.0.0)).unwrap_or(0)
}

/// A moment, seen from now.
pub(crate) fn when(at: Moment, now: Moment) -> When {
    let relative = match (between(at, now), between(now, at)) {
        (0..1_000, 0..1_000) => "just now".to_owned(),
        (past, 0) => format!("{} ago", lasting(past)),
        (_, future) => format!("in {}", lasting(future)),
    };
    When { exact: at.to_string(), relative }
}

/// A length of time in at most two units.
pub(crate) fn lasting(ms: u64) -> String {
    let seconds = ms / 1_000;
    let two = |large: u64, unit: &str, small: u64, rest: &str| {
        if small == 0 { format!("{large} {unit}") } else { format!("{large} {unit} {small} {rest}") }
    };
    match seconds {
        0 => format!("{ms} ms"),
        1..60 => format!("{seconds} s"),
        60..600 => two(seconds / 60, "min", seconds % 60, "s"),
        600..3_600 => format!("{} min", seconds / 60),
        3_600..86_400 => two(seconds / 3_600, "h", seconds % 3_600 / 60, "min"),
        _ => two(seconds / 86_400, "d", seconds % 86_400 / 3_600, "h"),
    }
}

/// Bytes, in the largest unit that leaves a whole number, with one digit more.
pub(crate) fn size(bytes: u64) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if bytes < 1_024 {
        return format!("{bytes} B");
    }
    let (mut unit, mut scale) = (0, 1_024_u64);
    while unit + 1 < UNITS.len() && bytes / scale >= 1_024 {
        unit += 1;
        scale *= 1_024;
    }
    let tenths = (u128::from(bytes) * 10 + u128::from(scale) / 2) / u128::from(scale);
    format!("{}.{} {}", tenths / 10, tenths % 10, UNITS[unit])
}

/// A count with its thousands apart.
pub(crate) fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A count of something, with the something in its number.
pub(crate) fn many(number: u64, one: &str, more: &str) -> String {
    format!("{} {}", count(number), if number == 1 { one } else { more })
}

/// A phase for people.
pub(crate) fn phase_words(phase: Phase) -> &'static str {
    match phase {
        Phase::RetryWait => "waits for retry",
        other => other.name(),
    }
}

/// A part of a whole in thousandths, rounded, at most all of it.
pub(crate) fn thousandths(part: u64, whole: u64) -> u64 {
    let whole = u128::from(whole.max(1));
    let share = (u128::from(part) * 1_000 + whole / 2) / whole;
    u64::try_from(share.min(1_000)).unwrap_or(1_000)
}

/// A path in a URL.
pub(crate) fn in_url(path: &str) -> String {
    utf8_percent_encode(path, PATH).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_time_have_two_units_at_most() {
        for (ms, text) in [
            (0, "0 ms"),
            (999, "999 ms"),
            (59_999, "59 s"),
            (61_000, "1 min 1 s"),
            (3_599_000, "59 min"),
            (3_600_000, "1 h"),
            (5_400_000, "1 h 30 min"),
            (90_000_000, "1 d 1 h"),
        ] {
            assert_eq!(lasting(ms), text);
        }
    }

    #[test]
    fn a_moment_is_seen_from_now() {
        let now = Moment(Timestamp(1_000_000));
        assert_eq!(when(Moment(Timestamp(999_500)), now).relative, "just now");
        assert_eq!(when(Moment(Timestamp(940_000)), now).relative, "1 min ago");
        assert_eq!(when(Moment(Timestamp(1_005_000)), now).relative, "in 5 s");
        assert_eq!(when(Moment(Timestamp(0)), now).exact, "1970-01-01T00:00:00.000Z");
    }

    #[test]
    fn sizes_and_counts_are_short_and_true() {
        for (bytes, text) in [
            (0, "0 B"),
            (1_023, "1023 B"),
            (1_024, "1.0 KiB"),
            (1_572_864, "1.5 MiB"),
            (u64::MAX, "16.0 EiB"),
        ] {
            assert_eq!(size(bytes), text);
        }
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(count(123), "123");
        assert_eq!(many(1, "job", "jobs"), "1 job");
        assert_eq!(thousandths(1, 3), 333);
        assert_eq!(thousandths(5, 3), 1_000);
        assert_eq!(thousandths(0, 0), 0);
    }

    #[test]
    fn a_path_cannot_leave_its_link() {
        assert_eq!(in_url("a/\"><img src=x>?#.txt"), "a/%22%3E%3Cimg%20src%3Dx%3E%3F%23.txt");
    }
}
