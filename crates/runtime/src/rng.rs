//! Chance, from the system or from a seed.

use std::sync::{Mutex, PoisonError};

use rand::rngs::{StdRng, SysRng};
use rand::{RngExt, SeedableRng, TryRng};

/// A source of chance that many tasks share.
pub trait Rng: Send + Sync {
    /// 64 random bits.
    fn next_u64(&self) -> u64;

    /// 128 random bits.
    fn next_u128(&self) -> u128 {
        u128::from(self.next_u64()) << 64 | u128::from(self.next_u64())
    }
}

/// The same numbers for the same seed.
pub struct SeededRng(Mutex<StdRng>);

impl SeededRng {
    /// A source that begins at this seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(Mutex::new(StdRng::seed_from_u64(seed)))
    }
}

impl Rng for SeededRng {
    fn next_u64(&self) -> u64 {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).random()
    }
}

/// A seeded source whose seed comes from the operating system.
pub struct SystemRng(SeededRng);

impl SystemRng {
    /// A new source.
    ///
    /// # Panics
    /// When the operating system has no randomness to give; nothing can be done safely then.
    #[must_use]
    pub fn new() -> Self {
        let mut seed = [0; 32];
        SysRng.try_fill_bytes(&mut seed).expect("the operating system gives random bytes");
        Self(SeededRng(Mutex::new(StdRng::from_seed(seed))))
    }
}

impl Default for SystemRng {
    fn default() -> Self {
        Self::new()
    }
}

impl Rng for SystemRng {
    fn next_u64(&self) -> u64 {
        self.0.next_u64()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_repeats_and_the_system_does_not() {
        let (one, two) = (SeededRng::new(7), SeededRng::new(7));
        assert_eq!(one.next_u128(), two.next_u128());
        assert_ne!(SystemRng::new().next_u128(), SystemRng::new().next_u128());
    }
}
