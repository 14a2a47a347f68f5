//! A moment in a document.

use std::fmt;

use jiff::SignedDuration;
use jiff::civil::{DateTime, datetime};
use protocol::Timestamp;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

/// 1970.
const EPOCH: DateTime = datetime(1970, 1, 1, 0, 0, 0, 0);

/// A moment on the durable store's clock, in milliseconds; RFC 3339 with `Z` in text. Years 1 to 9999.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Moment(pub Timestamp);

impl From<Timestamp> for Moment {
    fn from(at: Timestamp) -> Self {
        Self(at)
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // As a civil time: jiff's own moments end a day before year 9999 does.
        match EPOCH.checked_add(SignedDuration::from_millis(self.0.0)) {
            Ok(at) => write!(f, "{at:.3}Z"),
            // Outside what any store accepts.
            Err(_) => self.0.fmt(f),
        }
    }
}

impl std::str::FromStr for Moment {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let utc = text.strip_suffix('Z').and_then(|civil| civil.parse::<DateTime>().ok());
        let ms = match utc {
            Some(at) => i64::try_from(at.duration_since(EPOCH).as_millis()).ok(),
            None => text.parse::<jiff::Timestamp>().ok().map(jiff::Timestamp::as_millisecond),
        };
        let ms = ms.ok_or_else(|| format!("`{text}` is no moment such as 2026-12-24T18:00:00Z"))?;
        Ok(Self(Timestamp(ms)))
    }
}

impl Serialize for Moment {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Moment {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_reads_back_to_the_millisecond() {
        for at in [Timestamp::MIN, Timestamp::MAX, Timestamp(0), Timestamp(1_796_000_000_123)] {
            let text = Moment(at).to_string();
            assert!(text.ends_with('Z'), "{text}");
            assert_eq!(text.parse(), Ok(Moment(at)), "{text}");
        }
        assert_eq!(Moment(Timestamp(0)).to_string(), "1970-01-01T00:00:00.000Z");
        assert_eq!("2026-12-24T19:00:00+01:00".parse(), "2026-12-24T18:00:00Z".parse::<Moment>());
        assert!("yesterday".parse::<Moment>().unwrap_err().contains("`yesterday` is no moment"));
    }
}
