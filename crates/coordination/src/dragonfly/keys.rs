//! Names of keys.
//!
//! Promises: every key of a pool carries one hash tag, `{<installation>:<pool>}`, and all but the epoch key's own carry
//! the epoch; every script gets all of them, in the order of `common.lua`.
//! The spec does not speak of it; protocol rules 7 and 9 do.

/// The keys that belong to one epoch, in the order of `KEYS` from the second on.
const OF_EPOCH: [&str; 20] = [
    "order",
    "now",
    "windows",
    "names",
    "entries",
    "queue",
    "places",
    "reservations",
    "leases",
    "deadlines",
    "jobs",
    "held",
    "progress",
    "unaccounted",
    "gone",
    "ended0",
    "ended1",
    "workers",
    "seen",
    "serving",
];

/// The names of one pool's keys.
#[derive(Debug, Clone)]
pub(super) struct Names {
    tag: String,
}

impl Names {
    pub(super) fn new(installation: &str, pool: &str) -> Self {
        Self { tag: format!("rm:{{{installation}:{pool}}}") }
    }

    /// `<installation>:<pool>`, for people.
    pub(super) fn shown(&self) -> &str {
        self.tag.trim_start_matches("rm:{").trim_end_matches('}')
    }

    /// The one key whose name carries no epoch.
    pub(super) fn epoch(&self) -> Vec<u8> {
        format!("{}:epoch", self.tag).into_bytes()
    }

    /// One key of an epoch.
    pub(super) fn of(&self, epoch: u64, what: &str) -> Vec<u8> {
        format!("{}:{epoch}:{what}", self.tag).into_bytes()
    }

    /// The keys of an epoch, without the epoch key itself.
    pub(super) fn of_epoch(&self, epoch: u64) -> Vec<Vec<u8>> {
        OF_EPOCH.iter().map(|what| self.of(epoch, what)).collect()
    }

    /// `KEYS` of every script.
    pub(super) fn all(&self, epoch: u64) -> Vec<Vec<u8>> {
        let mut keys = vec![self.epoch()];
        keys.extend(self.of_epoch(epoch));
        keys
    }

    /// The channel of wake-ups.
    pub(super) fn channel(&self) -> String {
        format!("{}:wakes", self.tag)
    }

    /// A key that `doctor` tries commands on.
    pub(super) fn trial(&self) -> Vec<u8> {
        format!("{}:doctor", self.tag).into_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_has_the_pools_tag_and_all_but_one_the_epoch() {
        let names = Names::new("here", "default");
        let keys = names.all(7);
        assert_eq!(keys.len(), 21);
        let texts: Vec<String> = keys.into_iter().map(|key| String::from_utf8(key).unwrap()).collect();
        assert_eq!(texts[0], "rm:{here:default}:epoch");
        assert!(texts[1..].iter().all(|key| key.starts_with("rm:{here:default}:7:")));
    }
}
