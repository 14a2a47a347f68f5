//! Opaque identities and fencing tokens.
//!
//! Promises: an id prints as a prefix and 26 lower-case Crockford base32 digits (`job_01k…`), reads back
//! to the same value, and ids made later sort later (UUID version 7 layout). Does not make randomness:
//! the caller hands it in. The spec says `AttemptId` is `<<job, token>>` only in its bounded model;
//! here the id is opaque and the token stands beside it (protocol rule 4).

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

const DIGITS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
const TEXT_LEN: usize = 26;

/// Why a text is not an id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadId {
    /// The prefix that was expected, such as `job`.
    pub expected: &'static str,
    /// The text that was given, cut to 64 characters.
    pub given: String,
}

impl fmt::Display for BadId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is not an id of the form {}_ and 26 letters and digits", self.given, self.expected)
    }
}

impl std::error::Error for BadId {}

/// Lays out a time and randomness as a UUID version 7: 48 bits of milliseconds, then chance.
#[must_use]
pub fn v7(unix_ms: u64, random: u128) -> u128 {
    let time = u128::from(unix_ms & 0xffff_ffff_ffff) << 80;
    let version = 0x7_u128 << 76;
    let rand_a = (random >> 64 & 0xfff) << 64;
    let variant = 0b10_u128 << 62;
    time | version | rand_a | variant | (random & 0x3fff_ffff_ffff_ffff)
}

fn encode(value: u128) -> String {
    (0..TEXT_LEN)
        .rev()
        .map(|place| char::from(DIGITS[usize::try_from(value >> (5 * place) & 31).unwrap_or(0)]))
        .collect()
}

fn decode(text: &str) -> Option<u128> {
    if text.len() != TEXT_LEN {
        return None;
    }
    let mut value: u128 = 0;
    for (index, byte) in text.bytes().enumerate() {
        let digit = DIGITS.iter().position(|known| *known == byte.to_ascii_lowercase())?;
        if index == 0 && digit > 7 {
            return None;
        }
        value = value << 5 | u128::try_from(digit).ok()?;
    }
    Some(value)
}

macro_rules! opaque_id {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u128);

        impl $name {
            /// What the text form begins with.
            pub const PREFIX: &'static str = $prefix;

            /// A new id from a time in milliseconds since 1970 and 128 random bits.
            #[must_use]
            pub fn v7(unix_ms: u64, random: u128) -> Self {
                Self(v7(unix_ms, random))
            }

            /// The id as 16 bytes, most significant first, as stores keep it.
            #[must_use]
            pub fn to_bytes(self) -> [u8; 16] {
                self.0.to_be_bytes()
            }

            /// The id from its 16 bytes.
            #[must_use]
            pub fn from_bytes(bytes: [u8; 16]) -> Self {
                Self(u128::from_be_bytes(bytes))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}_{}", $prefix, encode(self.0))
            }
        }

        impl FromStr for $name {
            type Err = BadId;
            fn from_str(text: &str) -> Result<Self, BadId> {
                text.strip_prefix(concat!($prefix, "_"))
                    .and_then(decode)
                    .map(Self)
                    .ok_or_else(|| BadId { expected: $prefix, given: text.chars().take(64).collect() })
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                if serializer.is_human_readable() {
                    serializer.collect_str(self)
                } else {
                    serializer.serialize_u128(self.0)
                }
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                if deserializer.is_human_readable() {
                    String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
                } else {
                    u128::deserialize(deserializer).map(Self)
                }
            }
        }
    };
}

opaque_id!(
    /// A job: one accepted submission.
    JobId,
    "job"
);
opaque_id!(
    /// An attempt, whatever its token: every compare-and-swap, lease and stage prefix carries it.
    AttemptId,
    "att"
);
opaque_id!(
    /// One start of a worker process. Never reused, also not under the same name (`StartIncarnation`).
    Incarnation,
    "wrk"
);
opaque_id!(
    /// One permit given by `Reserve`; release, hand-back and activation name it.
    ReservationId,
    "rsv"
);
opaque_id!(
    /// One durable store with all that it remembers: made with its schema, never changed.
    InstallationId,
    "ins"
);
opaque_id!(
    /// One place where results lie: made with its first use, kept in a marker there.
    TargetId,
    "tgt"
);
opaque_id!(
    /// Whoever sends requests: a worker's incarnation, an agent, a client.
    ActorId,
    "act"
);

impl From<Incarnation> for ActorId {
    fn from(worker: Incarnation) -> Self {
        Self(worker.0)
    }
}

/// A job's fencing number: 1, 2, 3 … strictly rising, never reused. 0 means "no attempt yet".
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Token(pub u32);

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_reads_back_from_its_text() {
        for value in [0, 1, u128::MAX, v7(1_790_000_000_000, 0x1234_5678_9abc_def0_1122_3344_5566_7788)] {
            let id = JobId(value);
            assert_eq!(id.to_string().parse(), Ok(id));
            assert_eq!(JobId::from_bytes(id.to_bytes()), id);
        }
    }

    #[test]
    fn a_text_of_another_kind_or_shape_is_refused() {
        let job = JobId(7).to_string();
        assert!(job.parse::<AttemptId>().is_err());
        for text in
            ["", "job_", "job_8zzzzzzzzzzzzzzzzzzzzzzzzz", "job_0000000000000000000000000u", &job[..29]]
        {
            assert!(text.parse::<JobId>().is_err(), "{text}");
        }
    }

    #[test]
    fn later_ids_sort_later() {
        assert!(v7(2, 0) > v7(1, u128::MAX));
        assert!(JobId(v7(2, 0)).to_string() > JobId(v7(1, u128::MAX)).to_string());
    }

    #[test]
    fn an_id_is_text_in_json() {
        let text = serde_json::to_string(&JobId(31)).unwrap();
        assert_eq!(text, format!("\"{}\"", JobId(31)));
        assert_eq!(serde_json::from_str::<JobId>(&text).unwrap(), JobId(31));
    }
}
