//! Reading what people type.

use std::time::Duration;

use jiff::SignedDuration;
use protocol::{Timestamp, UserProgress};

/// A length of time, such as `3s`, `1h30m` or `250ms`. Negative ones are refused by name.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let parsed: SignedDuration = text
        .parse()
        .map_err(|_| format!("`{text}` is not a length of time; write it like 250ms, 3s, 5m or 1h30m"))?;
    Duration::try_from(parsed).map_err(|_| format!("{text} is negative; allowed is 0s or more"))
}

/// A length of time above zero.
pub(crate) fn positive_duration(text: &str) -> Result<Duration, String> {
    match duration(text)? {
        Duration::ZERO => Err(format!("{text} is zero; allowed is more than 0s")),
        duration => Ok(duration),
    }
}

/// Milliseconds of a length of time.
pub(crate) fn ms(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// A moment with its zone, in the years 1 to 9999.
pub(crate) fn moment(text: &str) -> Result<Timestamp, String> {
    let parsed: jiff::Timestamp = text.parse().map_err(|_| {
        format!("`{text}` is not a time in the years 1 to 9999 with its zone; write it like 2026-12-24T18:00:00Z or …+01:00")
    })?;
    let moment = Timestamp(parsed.as_millisecond());
    if moment < Timestamp::MIN {
        return Err(format!("{text} is before the year 1; allowed are the years 1 to 9999"));
    }
    Ok(moment)
}

/// `3/10` or `3`.
pub(crate) fn progress(text: &str) -> Result<UserProgress, String> {
    let bad = || format!("`{text}` is not progress; write it like 3/10 or 3");
    let (done, total) = match text.split_once('/') {
        Some((done, total)) => (done, Some(total)),
        None => (text, None),
    };
    let number = |text: &str| text.trim().parse::<u64>().map_err(|_| bad());
    Ok(UserProgress { done: number(done)?, total: total.map(number).transpose()?, message: None })
}

/// `NAME=VALUE`.
pub(crate) fn variable(text: &str) -> Result<(String, String), String> {
    let (name, value) =
        text.split_once('=').ok_or_else(|| format!("`{text}` is not of the form NAME=VALUE"))?;
    Ok((name.to_owned(), value.to_owned()))
}

/// A moment for people.
pub(crate) fn show_moment(moment: Timestamp) -> String {
    jiff::Timestamp::from_millisecond(moment.0)
        .map_or_else(|_| moment.to_string(), |moment| moment.strftime("%Y-%m-%d %H:%M:%SZ").to_string())
}

/// A length of time for people: `3.2s`, `4m10s`, `2h05m`, `3d4h`.
pub(crate) fn show_ms(ms: u64) -> String {
    let seconds = ms / 1000;
    match seconds {
        0..60 => format!("{}.{}s", seconds, ms % 1000 / 100),
        60..3_600 => format!("{}m{:02}s", seconds / 60, seconds % 60),
        3_600..86_400 => format!("{}h{:02}m", seconds / 3_600, seconds % 3_600 / 60),
        _ => format!("{}d{}h", seconds / 86_400, seconds % 86_400 / 3_600),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_time_are_read_and_odd_ones_refused_by_name() {
        assert_eq!(duration("250ms"), Ok(Duration::from_millis(250)));
        assert_eq!(duration("1h30m"), Ok(Duration::from_secs(5400)));
        assert_eq!(duration("0s"), Ok(Duration::ZERO));
        assert!(duration("-5s").unwrap_err().contains("-5s is negative"));
        for odd in ["", "5", "NaN", "null", "1e400s", "99999999999999999999s", "s"] {
            assert!(duration(odd).unwrap_err().contains(odd), "{odd}");
        }
        assert!(positive_duration("0s").unwrap_err().contains("zero"));
    }

    #[test]
    fn moments_need_a_zone_and_a_year_up_to_9999() {
        assert_eq!(moment("1970-01-01T00:00:01Z"), Ok(Timestamp(1000)));
        assert_eq!(moment("1970-01-01T01:00:01+01:00"), Ok(Timestamp(1000)));
        assert!(moment("9999-12-30T22:00:00Z").is_ok());
        for odd in ["294277-01-01T00:00:00Z", "+294277-01-01T00:00:00Z", "2026-01-01T00:00:00", "tomorrow"] {
            assert!(moment(odd).unwrap_err().contains("years 1 to 9999"), "{odd}");
        }
        assert!(moment("-000001-01-01T00:00:00Z").is_err());
    }

    #[test]
    fn progress_and_variables_are_read() {
        assert_eq!(progress("3/10"), Ok(UserProgress { done: 3, total: Some(10), message: None }));
        assert_eq!(progress("7").map(|progress| progress.total), Ok(None));
        assert!(progress("-1/2").is_err() && progress("x").unwrap_err().contains("3/10"));
        assert_eq!(variable("A=b=c"), Ok(("A".into(), "b=c".into())));
        assert!(variable("A").is_err());
    }

    #[test]
    fn lengths_of_time_are_shown_short() {
        let shown: Vec<_> = [0, 3_250, 250_000, 7_500_000, 273_600_000].map(show_ms).into();
        assert_eq!(shown, ["0.0s", "3.2s", "4m10s", "2h05m", "3d4h"]);
    }
}
