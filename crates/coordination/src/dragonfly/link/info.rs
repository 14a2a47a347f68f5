//! What a server says of itself.
//!
//! Promises: reads `INFO`; its identity is one process's: it is another after a restart and on another machine.

use std::collections::BTreeMap;

/// The fields of `INFO`.
#[derive(Debug, Clone, Default)]
pub(crate) struct Info(BTreeMap<String, String>);

impl Info {
    pub(crate) fn read(text: &str) -> Self {
        let fields = text.lines().filter_map(|line| line.split_once(':'));
        Self(fields.map(|(name, value)| (name.to_owned(), value.trim().to_owned())).collect())
    }

    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// Which process this is; empty when it does not say. Dragonfly has no `run_id`; its replication id is as good.
    pub(super) fn identity(&self) -> &str {
        self.get("run_id").or_else(|| self.get("master_replid")).unwrap_or("")
    }

    pub(crate) fn is_replica(&self) -> bool {
        matches!(self.get("role"), Some("slave" | "replica"))
    }

    /// Whether any key may vanish when memory gets short. Policies on keys with a time to live harm nothing: no key has one.
    pub(crate) fn evicts(&self) -> Option<&str> {
        self.get("maxmemory_policy").filter(|policy| policy.starts_with("allkeys") || *policy == "eviction")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_evicts_any_key_is_told_from_one_that_does_not() {
        let of = |text: &str| Info::read(text).evicts().map(str::to_owned);
        assert_eq!(of("# Memory\r\nmaxmemory_policy:allkeys-lru\r\n").as_deref(), Some("allkeys-lru"));
        assert_eq!(
            of("maxmemory_policy:eviction\r\n").as_deref(),
            Some("eviction"),
            "Dragonfly in cache mode"
        );
        assert_eq!(of("maxmemory_policy:noeviction\r\n"), None);
        assert_eq!(of("maxmemory_policy:volatile-lru\r\n"), None);
    }

    #[test]
    fn the_identity_is_the_process_or_else_the_replication_id() {
        assert_eq!(Info::read("run_id:a\r\nmaster_replid:b\r\n").identity(), "a");
        assert_eq!(Info::read("dragonfly_version:df-v1.40.1\r\nmaster_replid:b\r\n").identity(), "b");
        assert_eq!(Info::read("").identity(), "");
        assert!(Info::read("role:slave\r\n").is_replica() && !Info::read("role:master\r\n").is_replica());
    }
}
