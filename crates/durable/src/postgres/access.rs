//! Tokens and the trail.

use async_trait::async_trait;
use protocol::{Fault, Timestamp};
use tokio_postgres::Row;

use super::PostgresRoom;
use super::column::{self, get};
use super::params::Params;
use super::reads::each;
use super::trouble::Trouble;
use crate::form::{self, TRAIL_TEXT, limit_column, storable};
use crate::{
    Access, NewToken, Scope, TOKENS, TRAIL_KEPT, TRAIL_STEP, TokenMade, TokenRow, Tokens, TrailEntry,
    TrailRow, USED_STEP_MS,
};

/// Entries in one statement.
const ROWS: usize = 1_000;

fn token(row: &Row) -> Result<TokenRow, Trouble> {
    let short = |_| Trouble::BadRow("a token's digest has not 32 bytes".to_owned());
    Ok(TokenRow {
        id: get(row, "id")?,
        name: get(row, "name")?,
        scopes: form::scopes(get(row, "scopes")?).map_err(Trouble::BadRow)?,
        digest: get::<&[u8]>(row, "digest")?.try_into().map_err(short)?,
        created_at: column::time(row, "created_at")?,
        expires_at: column::maybe_time(row, "expires_at")?,
        last_used_at: column::maybe_time(row, "last_used_at")?,
    })
}

fn tokens(rows: &[Row]) -> Result<Tokens, Trouble> {
    let now = rows.first().map(|row| column::time(row, "now")).transpose()?;
    let mut tokens = Vec::with_capacity(rows.len());
    for row in rows {
        if get::<Option<&str>>(row, "id")?.is_some() {
            tokens.push(token(row)?);
        }
    }
    Ok(Tokens { now: now.unwrap_or(Timestamp(0)), tokens })
}

fn trail_row(row: &Row) -> Result<TrailRow, Trouble> {
    Ok(TrailRow {
        number: column::count(row, "number")?,
        at: column::time(row, "at")?,
        entry: TrailEntry {
            id: u128::from_be_bytes(column::id(row, "id")?),
            token: get(row, "token")?,
            who: get(row, "who")?,
            origin: get(row, "origin")?,
            scope: form::scope(get(row, "scope")?).map_err(Trouble::BadRow)?,
            action: get(row, "action")?,
            object: get(row, "object")?,
            outcome: get(row, "outcome")?,
        },
    })
}

impl PostgresRoom {
    async fn write(&self, doing: &str, text: &str, params: Params) -> Result<Vec<Row>, Fault> {
        let rows = self.desk.sessions.rows(text, &params).await;
        rows.map_err(|trouble| trouble.of_an_action(self.desk.sessions.doing(doing)))
    }

    async fn prune_trail(&self) -> Result<(), Fault> {
        for scope in Scope::ALL {
            let params = Params::new().text(Some(scope.name().to_owned())).big(form::at_most(TRAIL_KEPT));
            self.write("prune the trail", &self.desk.statements.prune_trail, params).await?;
        }
        Ok(())
    }
}

fn entries(now: Option<i64>, entries: &[TrailEntry]) -> Params {
    let texts = |text: fn(&TrailEntry) -> String| {
        entries.iter().map(|entry| Some(storable(&text(entry), TRAIL_TEXT))).collect::<Vec<_>>()
    };
    Params::new()
        .now(now)
        .ids(entries.iter().map(|entry| entry.id.to_be_bytes()))
        .texts(entries.iter().map(|entry| entry.token.clone()))
        .texts(texts(|entry| entry.who.clone()))
        .texts(texts(|entry| entry.origin.clone()))
        .texts(texts(|entry| entry.scope.name().to_owned()))
        .texts(texts(|entry| entry.action.clone()))
        .texts(texts(|entry| entry.object.clone()))
        .texts(texts(|entry| entry.outcome.clone()))
}

#[async_trait]
impl Access for PostgresRoom {
    async fn make_token(&self, new: &NewToken) -> Result<TokenMade, Fault> {
        let doing = "make a token";
        new.validate().map_err(|violation| Fault::unreachable(doing, violation))?;
        let params = Params::new()
            .now(self.desk.now())
            .text(Some(new.id.clone()))
            .text(Some(new.name.clone()))
            .text(Some(form::scopes_text(&new.scopes)))
            .byte_strings([new.digest.to_vec()])
            .maybe_big(new.lasts_ms.map(form::at_most).map(|ms| ms.min(Timestamp::MAX.0)))
            .big(TOKENS.into());
        let rows = self.write(doing, &self.desk.statements.make_token, params).await?;
        let known = rows.first().map(token).transpose();
        match known.map_err(|trouble| trouble.of_an_action(self.desk.sessions.doing(doing)))? {
            Some(known) if known.digest == new.digest => Ok(TokenMade::Made(known)),
            Some(_) => Ok(TokenMade::IdTaken),
            None => Ok(TokenMade::Full),
        }
    }

    async fn revoke_token(&self, id: &str) -> Result<bool, Fault> {
        // No id holds a NUL, and the server takes none.
        if id.contains('\0') {
            return Ok(false);
        }
        let params = Params::new().text(Some(id.to_owned()));
        Ok(!self.write("revoke a token", &self.desk.statements.revoke_token, params).await?.is_empty())
    }

    async fn tokens(&self) -> Result<Tokens, Fault> {
        let ask = (&*self.desk.statements.tokens, Params::new().now(self.desk.now()));
        self.desk.sessions.read("read the tokens", ask, tokens).await
    }

    async fn tokens_used(&self, ids: &[String]) -> Result<(), Fault> {
        let params = Params::new()
            .now(self.desk.now())
            .texts(ids.iter().cloned().map(Some))
            .big(form::at_most(USED_STEP_MS));
        self.write("note the use of tokens", &self.desk.statements.tokens_used, params).await.map(drop)
    }

    async fn add_to_trail(&self, all: &[TrailEntry]) -> Result<(), Fault> {
        for some in all.chunks(ROWS) {
            let params = entries(self.desk.now(), some);
            let doing = "add to the trail";
            let rows = self.write(doing, &self.desk.statements.add_to_trail, params).await?;
            let numbers = rows.iter().map(|row| column::count(row, "number")).collect::<Result<Vec<_>, _>>();
            let numbers = numbers.map_err(|trouble| trouble.of_an_action(self.desk.sessions.doing(doing)))?;
            if numbers.iter().any(|number| number.is_multiple_of(TRAIL_STEP)) {
                self.prune_trail().await?;
            }
        }
        Ok(())
    }

    async fn trail(&self, before: Option<u64>, limit: usize) -> Result<Vec<TrailRow>, Fault> {
        let before = form::at_most(before.unwrap_or(u64::MAX));
        let ask = (&*self.desk.statements.trail, Params::new().big(before).big(limit_column(limit)));
        self.people.read("read the trail", ask, each(trail_row)).await
    }
}
