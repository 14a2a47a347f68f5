//! Which jobs are traced: decided from the trace id alone, so alike in every process.
//!
//! Does not use the sdk's own sampler: that one takes the ratio from bits which are fixed in ids of this layout, and would
//! sample all or nothing. Here the lowest 56 bits decide, as the W3C's second level has it; all of them are chance.

use protocol::JobId;

/// Which ratio of jobs is traced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sampler {
    /// Jobs whose lowest 56 bits are at least this are traced.
    from: u64,
}

const BITS: u64 = 1 << 56;

impl Sampler {
    /// Everything.
    pub const ALL: Self = Self { from: 0 };
    /// Nothing.
    pub const NONE: Self = Self { from: BITS };

    /// What `OTEL_TRACES_SAMPLER` and `OTEL_TRACES_SAMPLER_ARG` name. A job has no parent: the forms that ask a parent
    /// mean what they mean for a root.
    ///
    /// # Errors
    /// What is wrong, in words for the log.
    pub fn of(name: Option<&str>, argument: Option<&str>) -> Result<Self, String> {
        match name.unwrap_or("always_on") {
            "" | "always_on" | "parentbased_always_on" => Ok(Self::ALL),
            "always_off" | "parentbased_always_off" => Ok(Self::NONE),
            "traceidratio" | "parentbased_traceidratio" => Self::ratio(argument.unwrap_or("1")),
            other => Err(format!(
                "OTEL_TRACES_SAMPLER is `{other}`; allowed are always_on, always_off, traceidratio, each also after parentbased_"
            )),
        }
    }

    /// In millionths, so that no number is rounded twice.
    fn ratio(text: &str) -> Result<Self, String> {
        let ratio = text.parse::<f64>().ok().filter(|ratio| (0.0..=1.0).contains(ratio));
        let rounded = ratio.and_then(|ratio| format!("{:.0}", ratio * 1e6).parse::<u64>().ok());
        let millionths =
            rounded.ok_or_else(|| format!("OTEL_TRACES_SAMPLER_ARG is `{text}`; allowed is 0 to 1"))?;
        let taken = u128::from(BITS) * u128::from(millionths) / 1_000_000;
        Ok(Self { from: BITS - u64::try_from(taken).unwrap_or(BITS) })
    }

    /// Whether a job is traced.
    #[must_use]
    pub fn takes(self, job: JobId) -> bool {
        let bytes = job.to_bytes();
        let mut low = [0; 8];
        low[1..].copy_from_slice(&bytes[9..]);
        u64::from_be_bytes(low) >= self.from
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(sampler: Sampler) -> usize {
        // As ids are made: a time, a version, a variant, and chance.
        let mut chance: u128 = 1;
        let ids = (0..20_000).map(|_| {
            chance = chance.wrapping_mul(0xda94_2042_e4dd_58b5).wrapping_add(0x1234_5678_9abc_def1)
                ^ (chance >> 67);
            JobId::v7(1_790_000_000_000, chance)
        });
        ids.filter(|job| sampler.takes(*job)).count()
    }

    #[test]
    fn a_ratio_is_that_ratio_of_ids_as_they_are_made() {
        let of = |name, argument| taken(Sampler::of(Some(name), Some(argument)).unwrap());
        assert_eq!(taken(Sampler::of(None, None).unwrap()), 20_000);
        assert_eq!((of("always_off", ""), of("traceidratio", "0"), of("traceidratio", "1")), (0, 0, 20_000));
        for (ratio, about) in [("0.1", 2_000), ("0.5", 10_000), ("0.75", 15_000), ("1e-1", 2_000)] {
            let count = of("parentbased_traceidratio", ratio);
            assert!(count.abs_diff(about) < 400, "{ratio}: {count}");
        }
    }

    #[test]
    fn what_is_no_sampler_or_no_ratio_is_said() {
        assert!(Sampler::of(Some("jaeger_remote"), None).unwrap_err().contains("`jaeger_remote`"));
        for ratio in ["2", "-1", "NaN", "half"] {
            let refused = Sampler::of(Some("traceidratio"), Some(ratio)).unwrap_err();
            assert!(refused.contains(ratio) && refused.contains("0 to 1"), "{refused}");
        }
    }
}
