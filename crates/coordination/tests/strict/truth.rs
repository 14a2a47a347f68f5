//! What holds after every script, also after one that memory stopped half way: what is there is named by the index.

use std::collections::BTreeMap;

use super::store::{Store, Value};

/// Keys of one epoch, by their last word.
type Epoch<'a> = BTreeMap<&'a str, &'a Value>;

fn hash<'a>(epoch: &Epoch<'a>, key: &str) -> Option<&'a BTreeMap<Vec<u8>, Vec<u8>>> {
    match epoch.get(key) {
        Some(Value::Hash(hash)) => Some(hash),
        _ => None,
    }
}

fn members<'a>(epoch: &Epoch<'a>, key: &str) -> Vec<&'a Vec<u8>> {
    match epoch.get(key) {
        Some(Value::Sorted(sorted)) => sorted.keys().collect(),
        _ => Vec::new(),
    }
}

fn field<'a>(epoch: &Epoch<'a>, key: &str, name: &[u8]) -> Option<&'a Vec<u8>> {
    hash(epoch, key)?.get(name)
}

/// Checks every epoch in the store.
pub(crate) fn holds(store: &Store) {
    let mut epochs: BTreeMap<&str, Epoch<'_>> = BTreeMap::new();
    for (key, value) in &store.keys {
        let key = std::str::from_utf8(key).unwrap();
        let (before, word) = key.rsplit_once(':').unwrap();
        epochs.entry(before).or_default().insert(word, value);
    }
    epochs.values().for_each(|epoch| {
        for attempt in members(epoch, "deadlines") {
            let row = field(epoch, "leases", attempt).expect("a live lease has a row");
            named(epoch, &row[..16], attempt);
        }
        for id in members(epoch, "reservations") {
            let row = field(epoch, "places", id).expect("a reservation has a row");
            named(epoch, &row[..16], id);
        }
        for member in members(epoch, "queue") {
            let row = field(epoch, "entries", &member[20..]).expect("an entry has a row");
            assert_eq!(row[..20], member[..20], "and it is its own");
            let text = field(epoch, "names", &member[..4]).expect("a window with entries has a name");
            assert_eq!(
                field(epoch, "windows", text).map(Vec::as_slice),
                Some(&member[..4]),
                "and the name leads back"
            );
        }
    });
}

/// The job's row names the id, and the job is in the index of pages.
fn named(epoch: &Epoch<'_>, job: &[u8], id: &[u8]) {
    let row = field(epoch, "jobs", job).expect("a job of which something is held has a row");
    assert!(row[3..].chunks(16).any(|one| one == id), "the job's row names what is held");
    assert!(members(epoch, "held").iter().any(|held| held.as_slice() == job), "and the job is in the index");
}
