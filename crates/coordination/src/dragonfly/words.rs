//! Arguments of scripts, and the forms in which names and places are stored.
//!
//! Promises: ids and places are bytes, most significant first, so that the order of bytes is theirs; names are joined by
//! the byte 1, which the door lets into no name.

use std::collections::BTreeSet;

use protocol::{Position, Priority, Window};

use super::reply::{Malformed, Read};
use crate::Registration;

const JOINT: char = '\u{1}';

/// Arguments of a script.
#[derive(Debug, Default)]
pub(super) struct Words(pub(super) Vec<Vec<u8>>);

impl Words {
    pub(super) fn id(&mut self, id: u128) {
        self.0.push(id.to_be_bytes().to_vec());
    }

    pub(super) fn text(&mut self, text: impl Into<Vec<u8>>) {
        self.0.push(text.into());
    }

    /// What the scripts do not look into.
    pub(super) fn json(&mut self, value: &impl serde::Serialize) {
        self.0.push(serde_json::to_vec(value).expect("numbers and texts are JSON"));
    }

    pub(super) fn number(&mut self, number: impl std::fmt::Display) {
        self.0.push(number.to_string().into_bytes());
    }
}

/// A window, as it is stored.
pub(super) fn window_text(window: &Window) -> String {
    format!("{}{JOINT}{}{JOINT}{}", window.priority.0, window.queue, window.kind)
}

/// The window of a stored text.
pub(super) fn read_window(text: &str) -> Read<Window> {
    let mut parts = text.splitn(3, JOINT);
    let mut next = || parts.next().ok_or_else(|| Malformed(format!("`{text}` is no window")));
    let priority = next()?.parse().map_err(|_| Malformed(format!("`{text}` has no priority")))?;
    let (queue, kind) = (next()?.to_owned(), next()?.to_owned());
    Ok(Window { queue, kind, priority: Priority(priority) })
}

/// What the rows of workers begin with that serve a kind, whatever the queue.
pub(super) fn serves_all(kind: &str) -> String {
    format!("a{kind}{JOINT}")
}

/// What the rows of workers begin with that serve a kind in this queue.
pub(super) fn serves_queue(kind: &str, queue: &str) -> String {
    format!("q{kind}{JOINT}{queue}{JOINT}")
}

/// All that a worker serves; nothing when it drains.
pub(super) fn serves(registration: &Registration) -> BTreeSet<String> {
    if registration.draining {
        return BTreeSet::new();
    }
    let of_kind = |kind: &String| match &registration.queues {
        None => vec![serves_all(kind)],
        Some(queues) => queues.iter().map(|queue| serves_queue(kind, queue)).collect(),
    };
    registration.kinds.iter().flat_map(of_kind).collect()
}

/// A place in a window's order, as bytes that sort as it does.
pub(super) fn place(position: Position) -> Vec<u8> {
    let due = position.due.0.cast_unsigned() ^ (1 << 63);
    [due.to_be_bytes(), position.sequence.to_be_bytes()].concat()
}

/// Paused queues, each between two line feeds.
pub(super) fn paused_text(paused: &[String]) -> String {
    paused.iter().map(|queue| format!("\n{queue}\n")).collect()
}

/// The paused queues of a stored text.
pub(super) fn read_paused(text: &str) -> Vec<String> {
    text.split('\n').filter(|queue| !queue.is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::Timestamp;

    #[test]
    fn a_window_and_paused_queues_read_back() {
        let window = Window { queue: "q:1".to_owned(), kind: "k".to_owned(), priority: Priority(3) };
        assert_eq!(read_window(&window_text(&window)).unwrap(), window);
        assert!(read_window("nothing").is_err());
        let paused = vec!["b".to_owned(), "a".to_owned()];
        assert_eq!(read_paused(&paused_text(&paused)), paused);
        assert_eq!(read_paused(&paused_text(&[])), Vec::<String>::new());
    }

    #[test]
    fn places_sort_as_bytes_as_they_sort_as_positions() {
        let mut positions = Vec::new();
        for due in [Timestamp::MIN.0, -1, 0, 1, 256, Timestamp::MAX.0] {
            for sequence in [0, 1, 255, 256, u64::MAX] {
                positions.push(Position { due: Timestamp(due), sequence });
            }
        }
        assert!(positions.windows(2).all(|two| place(two[0]) < place(two[1])));
    }
}
