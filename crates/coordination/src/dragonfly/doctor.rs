//! What a person should know of the server: what weakens Remora, and what would make it faster.
//!
//! Promises: each finding is one sentence that says what to do; looks only, but for one key of its own that it deletes.
//! Does not decide: a room refuses by itself what it must not work on.

use std::time::{Duration, Instant};

use protocol::{Fault, Finding, Level};

use super::link::{Call, Info};
use super::reply::Reply;
use super::script::Script;
use super::shared::Shared;
use super::{DragonflyRoom, millis};
use crate::remote::finding::{finding, told};

/// A round trip longer than this is told.
const SLOW: Duration = Duration::from_millis(20);

/// Looks at the room's server.
pub async fn doctor(room: &DragonflyRoom) -> Vec<Finding> {
    let shared = &room.shared;
    let info = match shared.said(&[b"INFO"]).await {
        Ok(text) => Info::read(&text),
        Err(fault) => return vec![finding("server", Level::Bad, told(&fault))],
    };
    let mut findings = vec![server(&info), role(&info), eviction(&info), memory(&info)];
    findings.push(snapshots(shared, &info).await);
    findings.push(permissions(shared).await);
    findings.push(wakes(room));
    if info.get("dragonfly_version").is_some() {
        findings.push(hash_tags(shared).await);
    }
    findings.push(latency(shared).await);
    findings
}

impl Shared {
    /// What a plain command says, its parts on a line each.
    async fn said(&self, words: &[&[u8]]) -> Result<String, Fault> {
        let reply = self.link.command(words, "ask the server about itself").await?;
        Ok(lines(&reply))
    }
}

fn lines(reply: &Reply) -> String {
    match reply {
        Reply::Nil => String::new(),
        Reply::Number(number) => number.to_string(),
        Reply::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        Reply::List(list) => list.iter().map(lines).collect::<Vec<_>>().join("\n"),
    }
}

fn server(info: &Info) -> Finding {
    if let Some(version) = info.get("dragonfly_version") {
        return finding("server", Level::Ok, format!("Dragonfly {version}"));
    }
    if let Some(version) = info.get("valkey_version") {
        return finding("server", Level::Ok, format!("Valkey {version}"));
    }
    let version = info.get("redis_version").unwrap_or("of an unknown version");
    let mut numbers = version.split('.').map(|part| part.parse::<u32>().unwrap_or(0));
    let known = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    if known < (6, 2) {
        return finding("server", Level::Bad, format!("Redis {version}: 6.2 or later is needed"));
    }
    finding("server", Level::Ok, format!("Redis {version}"))
}

fn role(info: &Info) -> Finding {
    let role = info.get("role").unwrap_or("unknown");
    if info.is_replica() {
        return finding(
            "role",
            Level::Bad,
            "a replica: the url must lead to the master, or through Sentinel",
        );
    }
    finding("role", Level::Ok, role.to_owned())
}

fn eviction(info: &Info) -> Finding {
    let policy = info.get("maxmemory_policy").unwrap_or("unknown");
    match info.evicts() {
        Some(_) => {
            let what = "any key may vanish when memory gets short, leases too; set maxmemory-policy to noeviction \
                        (Dragonfly: --cache_mode=false)";
            finding("eviction", Level::Bad, format!("{policy}: {what}"))
        }
        None => finding("eviction", Level::Ok, policy.to_owned()),
    }
}

fn memory(info: &Info) -> Finding {
    let number = |name| info.get(name).and_then(|text| text.parse::<u64>().ok()).unwrap_or(0);
    let (used, most) = (number("used_memory"), number("maxmemory"));
    let mib = |bytes: u64| bytes / 1024 / 1024;
    if most == 0 {
        let what = "no limit: a server that swaps or is killed is worse than one that says it is full; set maxmemory";
        return finding("memory", Level::Warn, format!("{} MiB used, {what}", mib(used)));
    }
    let level = if used > most / 10 * 9 { Level::Warn } else { Level::Ok };
    finding("memory", level, format!("{} of {} MiB used", mib(used), mib(most)))
}

async fn snapshots(shared: &Shared, info: &Info) -> Finding {
    const NAME: &str = "snapshots";
    let dragonfly = info.get("dragonfly_version").is_some();
    let names: &[&str] = if dragonfly { &["dbfilename"] } else { &["save", "appendonly"] };
    let mut kept = Vec::new();
    for name in names {
        match shared.said(&[b"CONFIG", b"GET", name.as_bytes()]).await {
            Ok(text) => {
                let value = text.lines().nth(1).unwrap_or("").trim();
                if !matches!(value, "" | "no") {
                    kept.push(format!("{name} is `{value}`"));
                }
            }
            Err(fault) => {
                let what =
                    format!("cannot be read, so whether old state comes back is not known: {}", told(&fault));
                return finding(NAME, Level::Warn, what);
            }
        }
    }
    if kept.is_empty() {
        return finding(NAME, Level::Ok, "none: a server that starts again starts empty");
    }
    let what = "a server that starts again reads old state; it is seen and dropped, but it takes time and memory; set \
                save \"\" and appendonly no (Dragonfly: --dbfilename=)";
    finding(NAME, Level::Warn, format!("{}: {what}", kept.join(", ")))
}

async fn permissions(shared: &Shared) -> Finding {
    const NAME: &str = "permissions";
    let call = Call {
        script: Script::Doctor,
        keys: vec![shared.names.trial()],
        epoch: 0,
        words: vec![Vec::new()],
        doing: "try the commands that scripts use",
    };
    let mut refused = match shared.link.script(&call).await {
        Ok(Reply::List(list)) => list.iter().map(lines).collect::<Vec<_>>(),
        Ok(_) => Vec::new(),
        Err(fault) => return finding(NAME, Level::Bad, format!("scripts are refused: {}", told(&fault))),
    };
    let key = shared.names.trial();
    let channel = shared.names.channel();
    let plain: [&[&[u8]]; 4] = [
        &[b"HKEYS", &key],
        &[b"HGETALL", &key],
        &[b"UNLINK", &key],
        &[b"PUBLISH", channel.as_bytes(), b"[\"doctor\",[]]"],
    ];
    for words in plain {
        if let Err(fault) = shared.said(words).await {
            refused.push(format!("{}: {}", String::from_utf8_lossy(words[0]), told(&fault)));
        }
    }
    match refused.first() {
        None => finding(NAME, Level::Ok, "every command that is needed is allowed"),
        Some(first) => finding(NAME, Level::Bad, format!("{} commands are refused; {first}", refused.len())),
    }
}

fn wakes(room: &DragonflyRoom) -> Finding {
    if room.stands.as_ref().is_some_and(|stands| *stands.borrow() == Some(true)) {
        return finding("wakes", Level::Ok, "the subscription to wake-ups stands");
    }
    let what = "no subscription to wake-ups: work begins when someone looks, up to a second later; the user needs \
                SUBSCRIBE and the channel";
    finding("wakes", Level::Warn, what)
}

async fn hash_tags(shared: &Shared) -> Finding {
    const NAME: &str = "hash_tags";
    match shared.said(&[b"CONFIG", b"GET", b"lock_on_hashtags"]).await {
        Ok(text) if text.lines().nth(1).is_some_and(|value| value.trim() == "true") => {
            finding(NAME, Level::Ok, "a pool lies on one thread")
        }
        _ => finding(
            NAME,
            Level::Warn,
            "start Dragonfly with --lock_on_hashtags: a pool then lies on one thread, and a script is one hop",
        ),
    }
}

async fn latency(shared: &Shared) -> Finding {
    const NAME: &str = "latency";
    let mut trips = Vec::new();
    for _ in 0..5 {
        let began = Instant::now();
        if let Err(fault) = shared.said(&[b"PING"]).await {
            return finding(NAME, Level::Bad, told(&fault));
        }
        trips.push(began.elapsed());
    }
    trips.sort_unstable();
    let middle = trips[trips.len() / 2];
    let level = if middle > SLOW { Level::Warn } else { Level::Ok };
    finding(NAME, level, format!("a round trip takes {} ms ({} µs)", millis(middle), middle.as_micros()))
}
