//! Ends by minute, as bars.

use api::v1::{MinuteEnds, Moment};

use super::words::{between, count};

/// Minutes that are drawn.
const MINUTES: u64 = 60;
const MINUTE_MS: u64 = 60_000;
/// The drawing is so high.
const HEIGHT: u64 = 100;

/// A minute's bar: three parts on each other, from the foot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Bar {
    pub(crate) x: u64,
    pub(crate) parts: Vec<Part>,
    pub(crate) title: String,
}

/// A part of a bar.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) name: &'static str,
    pub(crate) y: u64,
    pub(crate) height: u64,
}

/// The last hour.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Rates {
    pub(crate) bars: Vec<Bar>,
    /// The highest bar, in ends.
    pub(crate) most: String,
    pub(crate) succeeded: String,
    pub(crate) failed: String,
    pub(crate) cancelled: String,
    pub(crate) is_empty: bool,
}

fn total(ends: &MinuteEnds) -> u64 {
    ends.succeeded + ends.failed + ends.cancelled
}

fn bar(ends: &MinuteEnds, minutes_ago: u64, most: u64) -> Bar {
    let mut foot = HEIGHT;
    let mut parts = Vec::new();
    for (name, number) in
        [("succeeded", ends.succeeded), ("failed", ends.failed), ("cancelled", ends.cancelled)]
    {
        if number > 0 {
            // However small, it is seen.
            let height = (number * HEIGHT / most.max(1)).clamp(2, foot.max(2));
            foot = foot.saturating_sub(height);
            parts.push(Part { name, y: foot, height });
        }
    }
    let minute = ends.minute.to_string();
    let title = format!(
        "{} UTC: {} succeeded, {} failed, {} cancelled",
        minute.get(11..16).unwrap_or(&minute),
        ends.succeeded,
        ends.failed,
        ends.cancelled
    );
    Bar { x: (MINUTES - 1 - minutes_ago) * 10, parts, title }
}

/// The ends of the last hour, drawn.
pub(crate) fn rates(ends: &[MinuteEnds], now: Moment) -> Rates {
    let recent = |ends: &&MinuteEnds| between(ends.minute, now) / MINUTE_MS < MINUTES;
    let hour: Vec<_> = ends.iter().filter(recent).collect();
    let most = hour.iter().map(|ends| total(ends)).max().unwrap_or(0);
    let sum = |of: fn(&MinuteEnds) -> u64| count(hour.iter().map(|ends| of(ends)).sum());
    Rates {
        bars: hour.iter().map(|ends| bar(ends, between(ends.minute, now) / MINUTE_MS, most)).collect(),
        most: count(most),
        succeeded: sum(|ends| ends.succeeded),
        failed: sum(|ends| ends.failed),
        cancelled: sum(|ends| ends.cancelled),
        is_empty: hour.is_empty(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::Timestamp;

    fn minute(ago: i64, succeeded: u64, failed: u64) -> MinuteEnds {
        let minute = Moment(Timestamp(1_800_000_000_000 - ago * 60_000));
        MinuteEnds { minute, succeeded, failed, cancelled: 0 }
    }

    #[test]
    fn bars_stand_where_their_minute_is_and_parts_on_each_other() {
        let now = Moment(Timestamp(1_800_000_000_000));
        let rates = rates(&[minute(60, 9, 9), minute(59, 3, 1), minute(0, 8, 0)], now);
        assert_eq!(rates.bars.len(), 2);
        assert_eq!(rates.bars[0].x, 0);
        assert_eq!(rates.bars[1].x, 590);
        let parts: Vec<_> = rates.bars[0].parts.iter().map(|part| (part.y, part.height)).collect();
        assert_eq!(parts, [(63, 37), (51, 12)]);
        assert_eq!((rates.most.as_str(), rates.succeeded.as_str(), rates.failed.as_str()), ("8", "11", "1"));
    }
}
