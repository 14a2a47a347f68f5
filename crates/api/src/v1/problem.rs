//! Why something was not done: RFC 9457, `application/problem+json`.

use std::fmt;

use protocol::{Guard, Violation};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What kind of problem; each has a page in docs/errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Code {
    /// A field is wrong: the problem names field, value and limit.
    Invalid,
    /// The body is no JSON of this form.
    BadBody,
    /// The body is longer than allowed.
    TooLarge,
    /// There is no such job, attempt, result, file, worker or token.
    NotFound,
    /// A guard of the protocol refused it.
    Refused,
    /// The idempotency key stands for another request.
    KeyReused,
    /// No token, or one that is not known.
    Unauthenticated,
    /// The token's scopes do not allow it.
    Forbidden,
    /// Too many requests.
    TooMany,
    /// A room gave no answer. Nothing was done.
    Unavailable,
    /// A room gave no answer and the change may have been made: ask again with the same key or ids.
    Ambiguous,
    /// The request's method, media type or path is not one of the API's.
    Unsupported,
    /// A stored row or object is damaged.
    Damaged,
}

impl Code {
    /// All of them.
    pub const ALL: [Self; 13] = [
        Self::Invalid,
        Self::BadBody,
        Self::TooLarge,
        Self::NotFound,
        Self::Refused,
        Self::KeyReused,
        Self::Unauthenticated,
        Self::Forbidden,
        Self::TooMany,
        Self::Unavailable,
        Self::Ambiguous,
        Self::Unsupported,
        Self::Damaged,
    ];

    /// Its name, such as `not_found`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Invalid => "invalid",
            Self::BadBody => "bad_body",
            Self::TooLarge => "too_large",
            Self::NotFound => "not_found",
            Self::Refused => "refused",
            Self::KeyReused => "key_reused",
            Self::Unauthenticated => "unauthenticated",
            Self::Forbidden => "forbidden",
            Self::TooMany => "too_many",
            Self::Unavailable => "unavailable",
            Self::Ambiguous => "ambiguous",
            Self::Unsupported => "unsupported",
            Self::Damaged => "damaged",
        }
    }

    /// Its HTTP status; `unsupported` may be more exact where it is found.
    #[must_use]
    pub fn status(self) -> u16 {
        match self {
            Self::Invalid => 422,
            Self::BadBody => 400,
            Self::TooLarge => 413,
            Self::NotFound => 404,
            Self::Refused | Self::KeyReused => 409,
            Self::Unauthenticated => 401,
            Self::Forbidden => 403,
            Self::TooMany => 429,
            Self::Unavailable | Self::Ambiguous => 503,
            Self::Unsupported => 405,
            Self::Damaged => 500,
        }
    }
}

/// Why something was not done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Problem {
    /// Where the code's page is.
    #[serde(rename = "type")]
    #[schema(value_type = String)]
    pub kind: Box<str>,
    /// The code, for programs.
    pub code: Code,
    /// The HTTP status.
    pub status: u16,
    /// What happened, in a sentence that names the object.
    #[schema(value_type = String)]
    pub detail: Box<str>,
    /// The field that is wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub field: Option<Box<str>>,
    /// Its value, cut short.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub value: Option<Box<str>>,
    /// What is allowed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub allowed: Option<Box<str>>,
    /// The guard that refused it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub guard: Option<Box<str>>,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub hint: Option<Box<str>>,
}

impl Problem {
    /// A problem in a sentence.
    #[must_use]
    pub fn new(code: Code, detail: impl Into<Box<str>>) -> Self {
        Self {
            kind: format!("/errors/{}", code.name()).into(),
            code,
            status: code.status(),
            detail: detail.into(),
            field: None,
            value: None,
            allowed: None,
            guard: None,
            hint: None,
        }
    }

    /// There is no such thing.
    #[must_use]
    pub fn not_found(what: impl fmt::Display) -> Self {
        Self::new(Code::NotFound, format!("there is no {what}"))
    }

    /// A guard refused it.
    #[must_use]
    pub fn refused(guard: Guard, detail: impl Into<Box<str>>) -> Self {
        Self { guard: Some(guard.name().into()), ..Self::new(Code::Refused, detail) }
    }

    /// With what to do about it.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<Box<str>>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl From<Violation> for Problem {
    fn from(violation: Violation) -> Self {
        Self {
            field: Some(violation.field.as_str().into()),
            value: Some(violation.value.as_str().into()),
            allowed: Some(violation.allowed.as_str().into()),
            ..Self::new(Code::Invalid, violation.to_string())
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.detail)
    }
}

impl std::error::Error for Problem {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_written_as_it_is_called() {
        for code in Code::ALL {
            assert_eq!(serde_json::to_value(code).unwrap(), code.name());
            assert!((400..600).contains(&code.status()));
        }
    }
}
