//! A state as a few machine words.
//!
//! Promises: equal states have equal words and only they; the widths follow from the bounds, so that a state
//! takes as many bits as its ranges need. Bounds that need more bits than there are are refused.

use std::fmt;
use std::hash::{Hash, Hasher};

use protocol::Phase;
use protocol::machine::{
    Attempt, AttemptRow, AttemptState, Constants, Job, JobRow, LeaseState, LinkState, StageState, State,
    Wants, Worker, WorkerRow, WorkerState,
};

const WORDS: usize = 4;

/// A packed state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packed([u64; WORDS]);

impl Packed {
    /// Spreads all words over all bits.
    #[must_use]
    pub(crate) fn spread(&self) -> u64 {
        self.0.iter().fold(0, |hash: u64, word| {
            let mixed = (hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            mixed ^ (mixed >> 29)
        })
    }
}

impl Hash for Packed {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        hasher.write_u64(self.spread());
    }
}

/// The bounds are too wide for a packed state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooWide {
    /// What a state would need.
    pub bits: u32,
}

impl fmt::Display for TooWide {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a state of these bounds needs {} bits; {} is the most", self.bits, 64 * WORDS)
    }
}

impl std::error::Error for TooWide {}

/// How states of given bounds are packed.
#[derive(Debug, Clone, Copy)]
pub struct Layout {
    constants: Constants,
    token: u32,
    progress: u32,
    age: u32,
    worker: u32,
    attempt: u32,
}

/// Bits that hold `0..=most`.
fn width(most: usize) -> u32 {
    usize::BITS - most.leading_zeros()
}

struct Writer {
    words: [u64; WORDS],
    at: u32,
}

impl Writer {
    fn put(&mut self, value: u64, bits: u32) {
        debug_assert!(bits < 64 && value >> bits == 0, "{value} does not fit {bits} bits");
        let (word, shift) = (self.at / 64, self.at % 64);
        let word = word as usize;
        self.words[word] |= value << shift;
        if shift + bits > 64 {
            self.words[word + 1] |= value >> (64 - shift);
        }
        self.at += bits;
    }

    fn index(&mut self, value: usize, bits: u32) {
        self.put(value as u64, bits);
    }

    fn flag(&mut self, value: bool) {
        self.put(u64::from(value), 1);
    }
}

struct Reader<'a> {
    words: &'a [u64; WORDS],
    at: u32,
}

impl Reader<'_> {
    fn take(&mut self, bits: u32) -> u16 {
        let (word, shift) = (self.at / 64, self.at % 64);
        let word = word as usize;
        let mut value = self.words[word] >> shift;
        if shift + bits > 64 {
            value |= self.words[word + 1] << (64 - shift);
        }
        self.at += bits;
        u16::try_from(value & ((1 << bits) - 1)).expect("no field is wider than 16 bits")
    }

    fn index(&mut self, bits: u32) -> usize {
        usize::from(self.take(bits))
    }

    fn flag(&mut self) -> bool {
        self.take(1) == 1
    }
}

impl Layout {
    /// The layout for these bounds.
    ///
    /// # Errors
    /// When a state of these bounds needs too many bits.
    pub fn new(constants: Constants) -> Result<Self, TooWide> {
        let attempts = usize::from(constants.jobs) * usize::from(constants.max_attempts);
        let layout = Self {
            constants,
            token: width(usize::from(constants.max_attempts)),
            progress: width(usize::from(constants.max_progress)),
            age: width(usize::from(constants.lease_limit)),
            worker: width(usize::from(constants.workers)),
            attempt: width(attempts),
        };
        let bits = layout.bits(attempts);
        if bits > 64 * u32::try_from(WORDS).unwrap_or(0) { Err(TooWide { bits }) } else { Ok(layout) }
    }

    fn bits(&self, attempts: usize) -> u32 {
        let workers = u32::from(self.constants.workers);
        let job = 3 + 6 + 3 * self.attempt + self.token + 2 * self.progress + self.worker + workers;
        let attempt = 3 + self.worker + 2 * self.progress + 1 + 2 + 2 + 2 + self.age + 1;
        let attempts = u32::try_from(attempts).unwrap_or(u32::MAX / 64);
        1 + u32::from(self.constants.jobs) * job + attempts * attempt + workers * 8
    }

    /// The state's words.
    #[must_use]
    pub fn pack(&self, state: &State) -> Packed {
        let mut out = Writer { words: [0; WORDS], at: 0 };
        out.flag(state.coordination_lost_once);
        for row in &state.jobs {
            self.pack_job(&mut out, row);
        }
        for row in &state.attempts {
            self.pack_attempt(&mut out, row);
        }
        for row in &state.workers {
            out.index(row.worker_state.index(), 2);
            for link in row.links {
                out.index(link.index(), 2);
            }
        }
        Packed(out.words)
    }

    /// The state of these words, into a place that is used again and again.
    pub fn unpack_into(&self, packed: &Packed, state: &mut State) {
        let mut from = Reader { words: &packed.0, at: 0 };
        state.coordination_lost_once = from.flag();
        for row in &mut state.jobs {
            self.unpack_job(&mut from, row);
        }
        for row in &mut state.attempts {
            *row = self.unpack_attempt(&mut from);
        }
        for row in &mut state.workers {
            *row = WorkerRow {
                worker_state: WorkerState::ALL[from.index(2)],
                links: std::array::from_fn(|_| LinkState::ALL[from.index(2)]),
            };
        }
    }

    fn attempt_number(&self, of: Option<Attempt>) -> usize {
        of.map_or(0, |of| {
            usize::from(of.job.0) * usize::from(self.constants.max_attempts) + usize::from(of.token)
        })
    }

    fn attempt_of(&self, number: u16) -> Option<Attempt> {
        let place = number.checked_sub(1)?;
        let max = self.constants.max_attempts;
        Some(Attempt { job: Job(place / max), token: place % max + 1 })
    }

    fn pack_job(&self, out: &mut Writer, row: &JobRow) {
        let phase = Phase::ALL.iter().position(|phase| *phase == row.phase);
        out.index(phase.expect("every phase is listed"), 3);
        for flag in [
            row.cancel_requested,
            row.dispatch_needed,
            row.checkpoint_valid,
            row.queued,
            row.cancel_notice,
            row.dispatch_seen,
        ] {
            out.flag(flag);
        }
        for of in [row.authority, row.committed_attempt, row.live_progress_attempt] {
            out.index(self.attempt_number(of), self.attempt);
        }
        out.put(row.current_token.into(), self.token);
        out.put(row.checkpoint.into(), self.progress);
        out.put(row.live_progress.into(), self.progress);
        out.index(worker_number(row.reservation), self.worker);
        for worker in 0..self.constants.workers {
            out.flag(row.holds_ticket(Worker(worker)));
        }
    }

    fn unpack_job(&self, from: &mut Reader<'_>, row: &mut JobRow) {
        row.phase = Phase::ALL[from.index(3)];
        row.cancel_requested = from.flag();
        row.dispatch_needed = from.flag();
        row.checkpoint_valid = from.flag();
        row.queued = from.flag();
        row.cancel_notice = from.flag();
        row.dispatch_seen = from.flag();
        row.authority = self.attempt_of(from.take(self.attempt));
        row.committed_attempt = self.attempt_of(from.take(self.attempt));
        row.live_progress_attempt = self.attempt_of(from.take(self.attempt));
        row.current_token = from.take(self.token);
        row.checkpoint = from.take(self.progress);
        row.live_progress = from.take(self.progress);
        row.reservation = worker_of(from.take(self.worker));
        row.ticket.clear();
        row.ticket.extend((0..self.constants.workers).filter(|_| from.flag()).map(Worker));
    }

    fn pack_attempt(&self, out: &mut Writer, row: &AttemptRow) {
        out.index(row.attempt_state.index(), 3);
        out.index(worker_number(row.attempt_worker), self.worker);
        out.put(row.attempt_progress.into(), self.progress);
        out.put(row.initial_progress.into(), self.progress);
        out.flag(row.resumed_from_checkpoint);
        out.index(row.stage_state.index(), 2);
        out.index(row.pending_outcome.map_or(0, |wants| wants.index() + 1), 2);
        out.index(row.lease_state.index(), 2);
        out.put(row.lease_age.into(), self.age);
        out.flag(row.lost_seen);
    }

    fn unpack_attempt(&self, from: &mut Reader<'_>) -> AttemptRow {
        AttemptRow {
            attempt_state: AttemptState::ALL[from.index(3)],
            attempt_worker: worker_of(from.take(self.worker)),
            attempt_progress: from.take(self.progress),
            initial_progress: from.take(self.progress),
            resumed_from_checkpoint: from.flag(),
            stage_state: StageState::ALL[from.index(2)],
            pending_outcome: from.index(2).checked_sub(1).map(|place| Wants::ALL[place]),
            lease_state: LeaseState::ALL[from.index(2)],
            lease_age: from.take(self.age),
            lost_seen: from.flag(),
        }
    }
}

fn worker_number(worker: Option<Worker>) -> usize {
    worker.map_or(0, |worker| usize::from(worker.0) + 1)
}

fn worker_of(number: u16) -> Option<Worker> {
    number.checked_sub(1).map(Worker)
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::machine::{Law, Module, Service, moves};

    #[test]
    fn states_along_a_long_walk_read_back_from_their_words() {
        let constants = Constants {
            jobs: 2,
            workers: 2,
            initial_workers: 2,
            max_attempts: 2,
            max_progress: 2,
            local_limit: 2,
            global_limit: 3,
            ..Constants::ONE
        };
        let law = Law::of(Module::TwoStores, constants.with_faults(Service::ALL));
        let layout = Layout::new(law.constants).unwrap();
        let mut state = State::initial(&law.constants);
        let mut back = State::initial(&law.constants);
        for step in 0..10_000_usize {
            layout.unpack_into(&layout.pack(&state), &mut back);
            assert_eq!(back, state);
            let enabled = moves(&law, &state);
            match enabled.get(step.wrapping_mul(2_654_435_761) % enabled.len().max(1)) {
                Some(next) if step % 97 != 0 => next.apply(&law, &mut state),
                _ => state = State::initial(&law.constants),
            }
        }
    }

    #[test]
    fn bounds_that_do_not_fit_are_refused_with_their_size() {
        let wide = Layout::new(Constants { jobs: 100, ..Constants::ONE }).unwrap_err();
        assert!(wide.to_string().contains("256 is the most"), "{wide}");
    }
}
