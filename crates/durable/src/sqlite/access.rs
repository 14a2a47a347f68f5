//! Tokens and the trail.

use async_trait::async_trait;
use protocol::{ActorId, Fault, FaultKind, Mark, Origin, Stamped, Timestamp};
use rusqlite::{Row, named_params};

use super::section::sql;
use super::transaction::{Decided, Decision, Transaction};
use super::trouble::Trouble;
use super::{SqliteReads, SqliteRoom, column};
use crate::form::{self, TRAIL_TEXT, limit_column, storable};
use crate::{
    Access, NewToken, Scope, TOKENS, TRAIL_KEPT, TRAIL_STEP, TokenMade, TokenRow, Tokens, TrailEntry,
    TrailRow, USED_STEP_MS,
};

/// Tokens and the trail are in no trace: nobody is asked who sends.
const NOBODY: Origin = Origin { actor: ActorId(0), sequence: 0, sent_after: 0 };

fn done<T>(answer: T) -> Decision<T> {
    Decided::silent(Stamped::taken(Mark::default(), answer))
}

fn token(row: &Row<'_>) -> Result<TokenRow, Trouble> {
    Ok(TokenRow {
        id: row.get("id")?,
        name: row.get("name")?,
        scopes: form::scopes(&row.get::<_, String>("scopes")?).map_err(Trouble::BadRow)?,
        digest: row.get("digest")?,
        created_at: column::time(row, "created_at")?,
        expires_at: column::maybe_time(row, "expires_at")?,
        last_used_at: column::maybe_time(row, "last_used_at")?,
    })
}

fn make_token(transaction: &Transaction<'_>, _: &Origin, new: &NewToken) -> Decision<TokenMade> {
    let params = named_params! {
        ":id": new.id,
        ":name": new.name,
        ":scopes": form::scopes_text(&new.scopes),
        ":digest": new.digest,
        ":now": transaction.now.0,
        ":expires_at": new.lasts_ms.map(|ms| transaction.now.plus_ms(ms).0),
        ":most": TOKENS,
    };
    transaction.write(sql!("access", "make_token"), params)?;
    done(match transaction.row(sql!("access", "token"), named_params! {":id": new.id}, token)? {
        Some(known) if known.digest == new.digest => TokenMade::Made(known),
        Some(_) => TokenMade::IdTaken,
        None => TokenMade::Full,
    })
}

fn revoke_token(transaction: &Transaction<'_>, _: &Origin, id: &String) -> Decision<bool> {
    done(transaction.write(sql!("access", "revoke_token"), named_params! {":id": id})? > 0)
}

fn token_used(transaction: &Transaction<'_>, _: &Origin, id: &String) -> Decision<()> {
    let now = transaction.now.0;
    let before = now.saturating_sub(form::at_most(USED_STEP_MS));
    let params = named_params! {":id": id, ":now": now, ":before": before};
    transaction.write(sql!("access", "token_used"), params)?;
    done(())
}

fn add_to_trail(transaction: &Transaction<'_>, _: &Origin, entry: &TrailEntry) -> Decision<()> {
    let params = named_params! {
        ":id": entry.id.to_be_bytes(),
        ":now": transaction.now.0,
        ":token": entry.token,
        ":who": entry.who,
        ":origin": entry.origin,
        ":scope": entry.scope.name(),
        ":action": entry.action,
        ":object": storable(&entry.object, TRAIL_TEXT),
        ":outcome": entry.outcome,
    };
    let number =
        transaction.row(sql!("access", "add_to_trail"), params, |row| column::count(row, "number"))?;
    if number.is_some_and(|number| number.is_multiple_of(TRAIL_STEP)) {
        for scope in Scope::ALL {
            let params = named_params! {":scope": scope.name(), ":kept": form::at_most(TRAIL_KEPT)};
            transaction.write(sql!("access", "prune_trail"), params)?;
        }
    }
    done(())
}

fn trail_row(row: &Row<'_>) -> Result<TrailRow, Trouble> {
    Ok(TrailRow {
        number: column::count(row, "number")?,
        at: column::time(row, "at")?,
        entry: TrailEntry {
            id: u128::from_be_bytes(column::id(row, "id")?),
            token: row.get("token")?,
            who: row.get("who")?,
            origin: row.get("origin")?,
            scope: form::scope(&row.get::<_, String>("scope")?).map_err(Trouble::BadRow)?,
            action: row.get("action")?,
            object: row.get("object")?,
            outcome: row.get("outcome")?,
        },
    })
}

impl SqliteReads {
    async fn tokens(&self) -> Result<Tokens, Fault> {
        let read = |transaction: &Transaction<'_>| {
            let tokens = transaction.rows(sql!("access", "tokens"), &[], token)?;
            Ok(Tokens { now: Timestamp(transaction.now.0), tokens })
        };
        self.fresh.read("read the tokens", read).await
    }

    async fn trail(&self, before: Option<u64>, limit: usize) -> Result<Vec<TrailRow>, Fault> {
        let read = move |transaction: &Transaction<'_>| {
            let before = form::at_most(before.unwrap_or(u64::MAX));
            let params = named_params! {":before": before, ":limit": limit_column(limit)};
            transaction.rows(sql!("access", "trail"), params, trail_row)
        };
        self.people.read("read the trail", read).await
    }
}

/// What was decided of the first of a batch; a row that was set aside is a fault.
fn first<T>(doing: &str, answers: Vec<Stamped<T>>) -> Result<T, Fault> {
    let taken = answers.into_iter().next().and_then(|answer| answer.step.taken());
    taken.ok_or_else(|| Fault::new(FaultKind::Corrupt, doing.to_owned()))
}

#[async_trait]
impl Access for SqliteRoom {
    async fn make_token(&self, token: &NewToken) -> Result<TokenMade, Fault> {
        let doing = "make a token";
        token.validate().map_err(|violation| Fault::unreachable(doing, violation))?;
        first(doing, self.writer.batch(doing, &NOBODY, std::slice::from_ref(token), make_token).await?)
    }

    async fn revoke_token(&self, id: &str) -> Result<bool, Fault> {
        let doing = "revoke a token";
        first(doing, self.writer.batch(doing, &NOBODY, &[id.to_owned()], revoke_token).await?)
    }

    async fn tokens(&self) -> Result<Tokens, Fault> {
        self.reads.tokens().await
    }

    async fn tokens_used(&self, ids: &[String]) -> Result<(), Fault> {
        self.writer.batch("note the use of tokens", &NOBODY, ids, token_used).await.map(drop)
    }

    async fn add_to_trail(&self, entries: &[TrailEntry]) -> Result<(), Fault> {
        self.writer.batch("add to the trail", &NOBODY, entries, add_to_trail).await.map(drop)
    }

    async fn trail(&self, before: Option<u64>, limit: usize) -> Result<Vec<TrailRow>, Fault> {
        self.reads.trail(before, limit).await
    }
}
