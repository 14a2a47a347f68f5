//! A point in time as the stores keep it. Pure: nothing here reads a clock.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Milliseconds since 1970-01-01T00:00:00Z. Between years 1 and 9999 (protocol §5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Timestamp(pub i64);

impl Timestamp {
    /// 0001-01-01T00:00:00Z.
    pub const MIN: Self = Self(-62_135_596_800_000);
    /// 9999-12-31T23:59:59.999Z.
    pub const MAX: Self = Self(253_402_300_799_999);

    /// This time and so many milliseconds, held inside the allowed years.
    #[must_use]
    pub fn plus_ms(self, ms: u64) -> Self {
        Self(self.0.saturating_add(i64::try_from(ms).unwrap_or(i64::MAX)).clamp(Self::MIN.0, Self::MAX.0))
    }

    /// Milliseconds from `earlier` to this time; 0 when it is not earlier.
    #[must_use]
    pub fn since_ms(self, earlier: Self) -> u64 {
        u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0)
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ms since 1970", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adding_never_leaves_the_allowed_years() {
        assert_eq!(Timestamp(5).plus_ms(7), Timestamp(12));
        assert_eq!(Timestamp(5).plus_ms(u64::MAX), Timestamp::MAX);
        assert_eq!(Timestamp(5).since_ms(Timestamp(9)), 0);
        assert_eq!(Timestamp::MAX.since_ms(Timestamp(0)), 253_402_300_799_999);
    }
}
