//! How reasons speak of times and workers.

use coordination::WorkerView;
use protocol::Incarnation;

/// A span of time, in the two largest units that matter.
pub(super) fn lasting(ms: u64) -> String {
    let seconds = ms / 1_000;
    let (minutes, hours, days) = (seconds / 60, seconds / 3_600, seconds / 86_400);
    match ms {
        0..1_000 => format!("{ms} ms"),
        1_000..60_000 => format!("{seconds}.{} s", ms % 1_000 / 100),
        60_000..3_600_000 => format!("{minutes} min {} s", seconds % 60),
        3_600_000..86_400_000 => format!("{hours} h {} min", minutes % 60),
        _ => format!("{days} d {} h", hours % 24),
    }
}

/// So many of something.
pub(super) fn many(number: impl TryInto<u64>, one: &str, more: &str) -> String {
    match number.try_into().unwrap_or(u64::MAX) {
        1 => format!("1 {one}"),
        number => format!("{number} {more}"),
    }
}

/// A worker, by name where it is registered.
pub(super) fn named(workers: &[WorkerView], worker: Incarnation) -> String {
    match workers.iter().find(|view| view.registration.worker == worker) {
        Some(view) => {
            let known = &view.registration;
            format!("worker {} (pid {} on {})", known.name, known.pid, known.host)
        }
        None => format!("worker {worker}"),
    }
}

/// A list for a sentence, its end cut.
pub(super) fn list<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    const SHOWN: usize = 5;
    let names: Vec<&str> = names.into_iter().collect();
    let shown = names.iter().take(SHOWN).copied().collect::<Vec<_>>().join(", ");
    match names.len().checked_sub(SHOWN).filter(|rest| *rest > 0) {
        Some(rest) => format!("{shown} and {rest} more"),
        None => shown,
    }
}

/// A text's first line, cut for a sentence.
pub(super) fn line(text: &str) -> String {
    const SHOWN: usize = 200;
    let line = text.lines().next().unwrap_or_default();
    match line.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_told_in_their_largest_units() {
        let told: Vec<_> = [7, 1_250, 61_000, 3_900_000, 180_000_000].into_iter().map(lasting).collect();
        assert_eq!(told, ["7 ms", "1.2 s", "1 min 1 s", "1 h 5 min", "2 d 2 h"]);
    }

    #[test]
    fn long_lists_and_lines_are_cut() {
        assert_eq!(list(["a", "b"]), "a, b");
        assert_eq!(list(["a", "b", "c", "d", "e", "f"]), "a, b, c, d, e and 1 more");
        assert_eq!(line("one\ntwo"), "one");
        assert_eq!(line(&"ß".repeat(300)).chars().count(), 201);
    }
}
