//! The states seen so far, in as many parts as there are threads; each thread alone writes its part.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use crate::packed::Packed;

/// Threads that search, and parts of what they have seen.
pub(crate) const PARTS: usize = 2;

/// Takes the one word that a packed state writes.
#[derive(Debug, Default, Clone)]
pub(crate) struct OneWord(u64);

impl Hasher for OneWord {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {
        unreachable!("a packed state hashes as one word")
    }

    fn write_u64(&mut self, word: u64) {
        self.0 = word;
    }
}

/// A state's number: its place in its part, and the part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Id(pub(crate) u32);

impl Id {
    pub(crate) fn new(part: usize, place: usize) -> Self {
        Self(
            u32::try_from(place * PARTS + part).expect("a model has fewer than four thousand million states"),
        )
    }

    pub(crate) fn part(self) -> usize {
        self.0 as usize % PARTS
    }

    pub(crate) fn place(self) -> usize {
        self.0 as usize / PARTS
    }
}

/// How a state was first reached: from where, by which instance.
pub(crate) type Origin = Option<(Id, u16)>;

#[derive(Debug, Default)]
pub(crate) struct Part {
    index: HashMap<Packed, u32, BuildHasherDefault<OneWord>>,
    pub(crate) states: Vec<Packed>,
    pub(crate) origins: Vec<Origin>,
}

/// Which part a state belongs to.
pub(crate) fn part_of(packed: &Packed) -> usize {
    // A bit in the middle: the hash table uses both ends of the word.
    usize::from(packed.spread() >> 40 & 1 == 1) % PARTS
}

impl Part {
    pub(crate) fn place_of(&self, packed: &Packed) -> Option<usize> {
        self.index.get(packed).map(|place| *place as usize)
    }

    pub(crate) fn insert(&mut self, packed: Packed, origin: Origin) {
        let next =
            u32::try_from(self.states.len()).expect("a part has fewer than four thousand million states");
        if let std::collections::hash_map::Entry::Vacant(free) = self.index.entry(packed) {
            free.insert(next);
            self.states.push(packed);
            self.origins.push(origin);
        }
    }
}
