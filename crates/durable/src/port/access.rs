//! Who may speak to the API, and who did what: tokens and the trail.
//!
//! Neither is the spec's state. A token itself is never here: only its BLAKE3 is.

use std::fmt;
use std::str::FromStr;

use async_trait::async_trait;
use protocol::{Fault, Timestamp, Violation};
use serde::{Deserialize, Serialize};

/// Tokens at most: every request may have to be compared with each.
pub const TOKENS: u32 = 1_000;
/// Entries of the trail that are kept at least, per scope; pruned a thousand at a time.
pub const TRAIL_KEPT: u64 = 100_000;
/// So many entries of the trail are pruned at a time.
pub const TRAIL_STEP: u64 = 1_000;
/// A token's last use is written down at most this often, in milliseconds.
pub const USED_STEP_MS: u64 = 60_000;

/// What a token allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Scope {
    /// To look at everything but tokens and trail.
    Read,
    /// To submit jobs, and to read.
    Submit,
    /// To cancel, retry, pause, resume and drain, and to read.
    Operate,
    /// Everything: also limits, tokens and the trail.
    Admin,
}

impl Scope {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Read, Self::Submit, Self::Operate, Self::Admin];

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Submit => "submit",
            Self::Operate => "operate",
            Self::Admin => "admin",
        }
    }

    /// Whether whoever has this scope may do what needs the other.
    #[must_use]
    pub fn allows(self, needed: Self) -> bool {
        self == needed || self == Self::Admin || needed == Self::Read
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Scope {
    type Err = Violation;

    fn from_str(name: &str) -> Result<Self, Violation> {
        Self::ALL.into_iter().find(|scope| scope.name() == name).ok_or_else(|| Violation {
            field: "scopes".to_owned(),
            value: format!("`{}`", name.chars().take(64).collect::<String>()),
            allowed: "read, submit, operate, admin".to_owned(),
        })
    }
}

/// A token to be known from now on.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewToken {
    /// Its id, made by the caller: makes the request repeatable. 16 letters and digits.
    pub id: String,
    /// For people: 1 to 128 bytes.
    pub name: String,
    /// What it allows; at least one.
    pub scopes: Vec<Scope>,
    /// BLAKE3 of the token.
    pub digest: [u8; 32],
    /// How long it is good for, in milliseconds on the store's clock; for ever when `None`.
    pub lasts_ms: Option<u64>,
}

/// A digest is shown nowhere: whoever looks for one knows where it lies.
impl fmt::Debug for NewToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NewToken").field("id", &self.id).field("name", &self.name).finish_non_exhaustive()
    }
}

impl NewToken {
    /// Checks every field.
    ///
    /// # Errors
    /// The first field that is wrong, with its value and what is allowed.
    pub fn validate(&self) -> Result<(), Violation> {
        protocol::job::check_name("id", &self.id)?;
        protocol::job::check_name("name", &self.name)?;
        let wrong = |field: &str, value: &str, allowed: &str| Violation {
            field: field.to_owned(),
            value: value.to_owned(),
            allowed: allowed.to_owned(),
        };
        if self.scopes.is_empty() {
            return Err(wrong("scopes", "empty", "one or more of read, submit, operate, admin"));
        }
        if self.lasts_ms == Some(0) {
            return Err(wrong("lasts", "0 ms", "at least 1 ms"));
        }
        Ok(())
    }
}

/// A token that is known.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenRow {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// What it allows, in order and once each.
    pub scopes: Vec<Scope>,
    /// BLAKE3 of the token.
    pub digest: [u8; 32],
    /// When it was made.
    pub created_at: Timestamp,
    /// From when on it is good for nothing.
    pub expires_at: Option<Timestamp>,
    /// When it was used last, to the minute.
    pub last_used_at: Option<Timestamp>,
}

impl fmt::Debug for TokenRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TokenRow").field("id", &self.id).field("name", &self.name).finish_non_exhaustive()
    }
}

/// What became of a new token.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum TokenMade {
    /// It is known.
    Made(TokenRow),
    /// The id stands for another token.
    IdTaken,
    /// There are [`TOKENS`] already.
    Full,
}

/// All tokens at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tokens {
    /// The moment, on the store's clock.
    pub now: Timestamp,
    /// The tokens in the order of their making, those that have expired included.
    pub tokens: Vec<TokenRow>,
}

/// Something that somebody did, or was not allowed to do. Holds no secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrailEntry {
    /// Made by the caller, random: makes the request repeatable.
    pub id: u128,
    /// The token's id; `None` where no token was needed.
    pub token: Option<String>,
    /// The token's name, or `local`.
    pub who: String,
    /// Where the request came from.
    pub origin: String,
    /// The scope that it needed: each keeps its own last entries, so that one cannot wash out another's.
    pub scope: Scope,
    /// What was asked for, such as `cancel`.
    pub action: String,
    /// About what: ids, cut to 1 KiB.
    pub object: String,
    /// `done`, or the code of the problem.
    pub outcome: String,
}

/// An entry where it stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrailRow {
    /// Its place: later entries have higher ones.
    pub number: u64,
    /// When it was written.
    pub at: Timestamp,
    /// What it says.
    pub entry: TrailEntry,
}

/// Tokens and the trail. Every request may be sent again, and is then answered as the first time.
#[async_trait]
pub trait Access: Send + Sync {
    /// Makes a token known. Out of form ([`NewToken::validate`]): a fault, `Unreachable`, whose source is the
    /// [`Violation`].
    async fn make_token(&self, token: &NewToken) -> Result<TokenMade, Fault>;

    /// Makes a token unknown; answers whether it was known.
    async fn revoke_token(&self, id: &str) -> Result<bool, Fault>;

    /// All tokens: never older than the last answered write.
    async fn tokens(&self) -> Result<Tokens, Fault>;

    /// Writes down that tokens were used, where that was not written down within [`USED_STEP_MS`].
    async fn tokens_used(&self, ids: &[String]) -> Result<(), Fault>;

    /// Adds entries to the trail, once each, and prunes it.
    async fn add_to_trail(&self, entries: &[TrailEntry]) -> Result<(), Fault>;

    /// The trail, newest first, below a place.
    async fn trail(&self, before: Option<u64>, limit: usize) -> Result<Vec<TrailRow>, Fault>;
}
