//! Tokens, sessions and the trail.

use durable::{TokenRow, TrailRow};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Moment;

/// What a token allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
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

impl From<durable::Scope> for Scope {
    fn from(scope: durable::Scope) -> Self {
        match scope {
            durable::Scope::Read => Self::Read,
            durable::Scope::Submit => Self::Submit,
            durable::Scope::Operate => Self::Operate,
            durable::Scope::Admin => Self::Admin,
        }
    }
}

impl From<Scope> for durable::Scope {
    fn from(scope: Scope) -> Self {
        match scope {
            Scope::Read => Self::Read,
            Scope::Submit => Self::Submit,
            Scope::Operate => Self::Operate,
            Scope::Admin => Self::Admin,
        }
    }
}

/// What is known of a token.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Token {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// What it allows.
    pub scopes: Vec<Scope>,
    /// When it was made.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Moment,
    /// From when on it is good for nothing.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub expires_at: Option<Moment>,
    /// When it was used last, to the minute.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub last_used_at: Option<Moment>,
}

impl From<TokenRow> for Token {
    fn from(row: TokenRow) -> Self {
        Self {
            id: row.id,
            name: row.name,
            scopes: row.scopes.into_iter().map(Into::into).collect(),
            created_at: row.created_at.into(),
            expires_at: row.expires_at.map(Into::into),
            last_used_at: row.last_used_at.map(Into::into),
        }
    }
}

/// A token to make.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TokenRequest {
    /// For people: letters, digits and `_ - . : / + [ ] < >`, at most 128 bytes.
    #[schema(min_length = 1, max_length = 128, pattern = r"^[\w\-.:/+\[\]<>]+$")]
    pub name: String,
    /// What it allows.
    #[schema(min_items = 1)]
    pub scopes: Vec<Scope>,
    /// How long it is good for, in milliseconds, at most until the year 9999 from 1970 on; for ever unless said.
    #[schema(minimum = 1, maximum = 253_402_300_799_999_i64)]
    pub lasts_ms: Option<u64>,
}

/// A token that was made.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct MadeToken {
    /// The token itself: shown now and never again.
    pub token: String,
    /// What is known of it.
    #[serde(flatten)]
    pub about: Token,
}

/// The token is shown to nobody but whom it is made for.
impl std::fmt::Debug for MadeToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MadeToken").field("about", &self.about).finish_non_exhaustive()
    }
}

/// What a page logs in with.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Login {
    /// The token.
    #[schema(min_length = 1)]
    pub token: String,
    /// Where a form is sent on to: a path of this server.
    #[serde(default)]
    pub next: Option<String>,
}

impl std::fmt::Debug for Login {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Login").field("next", &self.next).finish_non_exhaustive()
    }
}

/// Something that somebody did, or was not allowed to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TrailRecord {
    /// Its place: later records have higher ones.
    pub number: u64,
    /// When.
    #[schema(value_type = String, format = DateTime)]
    pub at: Moment,
    /// The token's id; absent where no token was needed.
    pub token: Option<String>,
    /// The token's name, or `local`.
    pub who: String,
    /// Where the request came from.
    pub origin: String,
    /// The scope that it needed.
    pub scope: Scope,
    /// What was asked for, such as `cancel`.
    pub action: String,
    /// About what.
    pub object: String,
    /// `done`, or the code of the problem.
    pub outcome: String,
}

impl From<TrailRow> for TrailRecord {
    fn from(row: TrailRow) -> Self {
        Self {
            number: row.number,
            at: row.at.into(),
            token: row.entry.token,
            who: row.entry.who,
            origin: row.entry.origin,
            scope: row.entry.scope.into(),
            action: row.entry.action,
            object: row.entry.object,
            outcome: row.entry.outcome,
        }
    }
}
