//! Secrets: tokens and the values of sessions.
//!
//! Promises 256 random bits of the operating system in each, and that none is ever shown by a message.

use rand::TryRng as _;
use rand::rngs::SysRng;

const DIGITS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
/// What a token begins with, so that scanners for secrets know one.
pub(crate) const PREFIX: &str = "remora_";
/// Digits of 256 bits, five at a time.
const LENGTH: usize = 52;

fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    SysRng.try_fill_bytes(&mut bytes).expect("the operating system gives random bytes");
    bytes
}

/// So many digits of random bytes, five bits each.
fn digits(bytes: &[u8], count: usize) -> String {
    let bit = |place: usize| bytes.get(place / 8).is_some_and(|byte| byte >> (7 - place % 8) & 1 == 1);
    let digit =
        |start: usize| (start..start + 5).fold(0, |value, place| value << 1 | usize::from(bit(place)));
    (0..count).map(|number| char::from(DIGITS[digit(number * 5)])).collect()
}

/// A number that nobody else has.
pub(crate) fn random_id() -> u128 {
    u128::from_be_bytes(random())
}

/// The id of a new token: 80 random bits.
#[must_use]
pub(crate) fn new_token_id() -> String {
    digits(&random::<10>(), 16)
}

/// A token that nobody knows yet. It is shown once, to whoever asked for it.
pub(crate) struct NewSecret(String);

impl NewSecret {
    /// A token.
    ///
    /// # Panics
    /// When the operating system has no randomness to give; nothing can be done safely then.
    #[must_use]
    pub(crate) fn token() -> Self {
        Self(format!("{PREFIX}{}", digits(&random::<32>(), LENGTH)))
    }

    /// The value of a session.
    pub(crate) fn session() -> Self {
        Self(digits(&random::<32>(), LENGTH))
    }

    /// The secret itself.
    #[must_use]
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }

    /// What is stored of it.
    #[must_use]
    pub(crate) fn digest(&self) -> [u8; 32] {
        *blake3::hash(self.0.as_bytes()).as_bytes()
    }
}

impl std::fmt::Debug for NewSecret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("NewSecret(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_has_256_bits_and_is_never_shown() {
        let (one, two) = (NewSecret::token(), NewSecret::token());
        assert_ne!(one.reveal(), two.reveal());
        assert_eq!(one.reveal().len(), PREFIX.len() + LENGTH);
        assert!(one.reveal()[PREFIX.len()..].bytes().all(|byte| DIGITS.contains(&byte)));
        assert_eq!(format!("{one:?}"), "NewSecret(…)");
        assert_eq!(
            digits(&[0xff; 32], LENGTH),
            format!("{}g", "z".repeat(51)),
            "256 bits, four of them nothing"
        );
        assert_eq!(digits(&[0b0000_1000, 0b0100_0011], 3), "111");
        assert_eq!(new_token_id().len(), 16);
    }
}
