//! When the next attempt is due (protocol §4). Pure: chance comes in as a number.

use serde::{Deserialize, Serialize};

use crate::phase::FailureCause;

/// The delay before a retry: uniform in `[0, min(cap, base · 2^(n−1))]` for the n-th failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RetryPolicy {
    /// The widest delay after the first failure, in milliseconds. 0: at once.
    pub base_ms: u64,
    /// The widest delay after any failure, in milliseconds.
    pub cap_ms: u64,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self { base_ms: 2_000, cap_ms: 300_000 }
    }
}

impl RetryPolicy {
    /// After a lost worker: up to half a second, doubling with consecutive losses up to five minutes.
    pub const AFTER_LOSS: Self = Self { base_ms: 500, cap_ms: 300_000 };

    /// The delay in milliseconds after the `failure`-th failure (counted from 1) for this much chance.
    /// Never above the cap and never overflows, whatever the number.
    #[must_use]
    pub fn delay_ms(self, failure: u32, chance: u64) -> u64 {
        let doublings = failure.saturating_sub(1);
        let widest = if doublings >= 64 || self.base_ms.leading_zeros() <= doublings {
            if self.base_ms == 0 { 0 } else { self.cap_ms }
        } else {
            (self.base_ms << doublings).min(self.cap_ms)
        };
        scale(widest, chance)
    }

    /// The delay after this cause: `token` is the attempt's, `losses` how many were lost in a row.
    #[must_use]
    pub fn after(self, cause: FailureCause, token: u32, losses: u32, chance: u64) -> u64 {
        match cause {
            FailureCause::Drained => 0,
            FailureCause::Lost => Self::AFTER_LOSS.delay_ms(losses, chance),
            FailureCause::Failed
            | FailureCause::TimedOut
            | FailureCause::BadCheckpoint
            | FailureCause::Permanent => self.delay_ms(token, chance),
        }
    }
}

/// `chance` of `0..=u64::MAX` scaled to `0..=widest`.
fn scale(widest: u64, chance: u64) -> u64 {
    let product = u128::from(chance) * (u128::from(widest) + 1);
    u64::try_from(product >> 64).unwrap_or(widest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_widest_delay_doubles_up_to_the_cap_and_never_overflows() {
        let policy = RetryPolicy::default();
        let widest: Vec<_> = [1, 2, 3, 8, 9, 31, 32, 63, 64, 65, 1_023, u32::MAX]
            .iter()
            .map(|failure| policy.delay_ms(*failure, u64::MAX))
            .collect();
        assert_eq!(widest[..4], [2_000, 4_000, 8_000, 256_000]);
        assert!(widest[4..].iter().all(|delay| *delay == 300_000));
    }

    #[test]
    fn chance_spreads_over_the_whole_width() {
        let policy = RetryPolicy { base_ms: 1_000, cap_ms: 10_000 };
        assert_eq!(policy.delay_ms(1, 0), 0);
        assert_eq!(policy.delay_ms(1, u64::MAX / 2), 500);
        assert_eq!(policy.delay_ms(1, u64::MAX), 1_000);
        assert_eq!(RetryPolicy { base_ms: u64::MAX, cap_ms: u64::MAX }.delay_ms(9, u64::MAX), u64::MAX);
    }

    #[test]
    fn a_base_of_zero_means_at_once_at_any_number() {
        let policy = RetryPolicy { base_ms: 0, cap_ms: 300_000 };
        assert!([1, 64, 65, u32::MAX].iter().all(|failure| policy.delay_ms(*failure, u64::MAX) == 0));
    }

    #[test]
    fn a_drain_waits_nothing_and_a_loss_half_a_second_at_first() {
        let policy = RetryPolicy::default();
        assert_eq!(policy.after(FailureCause::Drained, 9, 0, u64::MAX), 0);
        assert_eq!(policy.after(FailureCause::Lost, 9, 1, u64::MAX), 500);
        assert_eq!(policy.after(FailureCause::Lost, 9, 40, u64::MAX), 300_000);
    }
}
