//! Finding and ending all descendants of a process, whatever sessions and groups they moved to.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use rustix::process::{Pid, Signal, kill_process};

/// A line of `/proc/<pid>/stat`, as far as it matters here.
struct Stat {
    state: char,
    parent: i32,
    session: i32,
}

type Table = BTreeMap<i32, Stat>;

fn stat_of(pid: i32) -> Option<Stat> {
    let stat = fs::read(format!("/proc/{pid}/stat")).ok()?;
    // The name in parentheses may hold anything, parentheses included.
    let after_name = stat.iter().rposition(|byte| *byte == b')')? + 1;
    let rest = String::from_utf8_lossy(&stat[after_name..]).into_owned();
    let mut fields = rest.split_ascii_whitespace();
    let state = fields.next()?.chars().next()?;
    let parent = fields.next()?.parse().ok()?;
    let session = fields.nth(1)?.parse().ok()?;
    Some(Stat { state, parent, session })
}

fn table() -> Table {
    let Ok(entries) = fs::read_dir("/proc") else { return Table::new() };
    entries
        .flatten()
        .filter_map(|entry| {
            let pid: i32 = entry.file_name().to_str()?.parse().ok()?;
            Some((pid, stat_of(pid)?))
        })
        .collect()
}

/// Whether a signal has stopped it (SIGSTOP and its like).
pub(super) fn is_stopped(pid: i32) -> bool {
    stat_of(pid).is_some_and(|stat| stat.state == 'T')
}

fn below(table: &Table, root: i32, mut pid: i32) -> bool {
    // A chain cannot be longer than there are processes; a torn reading must not loop.
    for _ in 0..table.len() {
        match table.get(&pid) {
            Some(stat) if stat.parent == root => return true,
            Some(stat) => pid = stat.parent,
            None => return false,
        }
    }
    false
}

fn living(table: &Table, root: i32) -> Vec<i32> {
    let alive = |stat: &Stat| !matches!(stat.state, 'Z' | 'X');
    table.iter().filter(|(pid, stat)| alive(stat) && below(table, root, **pid)).map(|(pid, _)| *pid).collect()
}

/// The living descendants of `root`, itself not included.
#[must_use]
pub fn descendants(root: i32) -> Vec<i32> {
    living(&table(), root)
}

/// Sends a signal to all descendants of `root`; tells how many there were.
pub fn kill_descendants(root: i32, signal: Signal) -> usize {
    let found = descendants(root);
    send(&found, signal);
    found.len()
}

fn send(pids: &[i32], signal: Signal) {
    for pid in pids.iter().filter_map(|pid| Pid::from_raw(*pid)) {
        // One that has gone meanwhile is what was wanted.
        let _ = kill_process(pid, signal);
    }
}

/// What killed wardens left to this process, their subreaper: children in other sessions than its own that
/// are no known warden. Kills them and all below them; gives the direct children, dead ones too, to wait for.
pub(super) fn kill_strays(own: i32, wardens: &BTreeSet<i32>) -> Vec<i32> {
    let table = table();
    let Some(session) = table.get(&own).map(|stat| stat.session) else { return Vec::new() };
    let strays: Vec<i32> = table
        .iter()
        .filter(|(pid, stat)| stat.parent == own && stat.session != session && !wardens.contains(pid))
        .map(|(pid, _)| *pid)
        .collect();
    for stray in &strays {
        send(&living(&table, *stray), Signal::KILL);
    }
    send(&strays, Signal::KILL);
    strays
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn grandchildren_are_found_and_killed() {
        let own = i32::try_from(std::process::id()).unwrap();
        let mut child = Command::new("sh")
            .args(["-c", "sleep 60 & echo ready; wait"])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut ready = [0; 5];
        std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut ready).unwrap();
        let pid = i32::try_from(child.id()).unwrap();
        let below = descendants(pid);
        assert_eq!(below.len(), 1);
        let all = descendants(own);
        assert!(all.contains(&pid) && all.contains(&below[0]));
        assert_eq!(kill_descendants(pid, Signal::KILL), 1);
        child.wait().unwrap();
        assert!(descendants(pid).is_empty());
    }
}
