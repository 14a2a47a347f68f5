//! Making tokens, for whoever may.

use api::v1::{Code, MadeToken, Problem, Token, TokenRequest};
use durable::{Access, NewToken, TOKENS, TokenMade};
use protocol::{Fault, Timestamp, Violation};

use super::secret::{NewSecret, new_token_id};

fn new_token(asked: TokenRequest, secret: &NewSecret) -> Result<NewToken, Violation> {
    let new = NewToken {
        id: new_token_id(),
        name: asked.name,
        scopes: asked.scopes.into_iter().map(Into::into).collect(),
        digest: secret.digest(),
        lasts_ms: asked.lasts_ms,
    };
    new.validate()?;
    let most = u64::try_from(Timestamp::MAX.0).unwrap_or(u64::MAX);
    match new.lasts_ms.filter(|ms| *ms > most) {
        None => Ok(new),
        Some(ms) => Err(Violation {
            field: "lasts_ms".to_owned(),
            value: ms.to_string(),
            allowed: format!("1 to {most}: no longer than time is counted here"),
        }),
    }
}

/// Makes a token. What comes back holds the token itself: it is kept nowhere.
///
/// # Errors
/// When the store gave no answer. Inside, the problem with what was asked for, or that there are too many already.
pub async fn make_token(
    store: &dyn Access,
    asked: TokenRequest,
) -> Result<Result<MadeToken, Problem>, Fault> {
    let secret = NewSecret::token();
    let new = match new_token(asked, &secret) {
        Ok(new) => new,
        Err(violation) => return Ok(Err(violation.into())),
    };
    Ok(match store.make_token(&new).await? {
        TokenMade::Made(row) => Ok(MadeToken { token: secret.reveal().to_owned(), about: Token::from(row) }),
        TokenMade::IdTaken => Err(Problem::new(Code::Damaged, "the token's id is taken")),
        TokenMade::Full => Err(Problem::new(Code::Refused, format!("there are {TOKENS} tokens already"))
            .hint("revoke those that are not used")),
    })
}
