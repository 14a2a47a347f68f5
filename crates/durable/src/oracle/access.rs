//! Tokens and the trail. The law does not speak of them.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use protocol::Fault;

use super::{OracleRoom, Shelf, storable};
use crate::{
    Access, NewToken, Scope, TOKENS, TRAIL_KEPT, TRAIL_STEP, TokenMade, TokenRow, Tokens, TrailEntry,
    TrailRow, USED_STEP_MS,
};

/// Bytes of a text in the trail that are kept.
const TEXT: usize = 1_024;

/// What is kept.
#[derive(Default)]
pub(super) struct Records {
    tokens: Vec<TokenRow>,
    trail: BTreeMap<u64, TrailRow>,
    ids: BTreeSet<u128>,
    last: u64,
}

impl Records {
    fn prune(&mut self) {
        for scope in Scope::ALL {
            let of_scope = |row: &&TrailRow| row.entry.scope == scope;
            let kept = usize::try_from(TRAIL_KEPT).unwrap_or(usize::MAX);
            let Some(end) = self.trail.values().rev().filter(of_scope).nth(kept).map(|row| row.number) else {
                continue;
            };
            self.trail.retain(|number, row| *number > end || row.entry.scope != scope);
        }
    }
}

impl Shelf {
    fn make_token(&mut self, new: &NewToken) -> TokenMade {
        if let Some(known) = self.access.tokens.iter().find(|token| token.id == new.id) {
            return if known.digest == new.digest {
                TokenMade::Made(known.clone())
            } else {
                TokenMade::IdTaken
            };
        }
        if self.access.tokens.len() >= usize::try_from(TOKENS).unwrap_or(usize::MAX) {
            return TokenMade::Full;
        }
        let row = TokenRow {
            id: new.id.clone(),
            name: new.name.clone(),
            scopes: Scope::ALL.into_iter().filter(|scope| new.scopes.contains(scope)).collect(),
            digest: new.digest,
            created_at: self.now,
            expires_at: new.lasts_ms.map(|ms| self.now.plus_ms(ms)),
            last_used_at: None,
        };
        self.access.tokens.push(row.clone());
        TokenMade::Made(row)
    }

    fn add_to_trail(&mut self, entry: &TrailEntry) {
        if !self.access.ids.insert(entry.id) {
            return;
        }
        self.access.last += 1;
        let number = self.access.last;
        let entry = TrailEntry { object: storable(&entry.object, TEXT), ..entry.clone() };
        self.access.trail.insert(number, TrailRow { number, at: self.now, entry });
        if number.is_multiple_of(TRAIL_STEP) {
            self.access.prune();
        }
    }
}

#[async_trait]
impl Access for OracleRoom {
    async fn make_token(&self, token: &NewToken) -> Result<TokenMade, Fault> {
        token.validate().map_err(|violation| Fault::unreachable("make a token", violation))?;
        Ok(self.lock().make_token(token))
    }

    async fn revoke_token(&self, id: &str) -> Result<bool, Fault> {
        let mut shelf = self.lock();
        let before = shelf.access.tokens.len();
        shelf.access.tokens.retain(|token| token.id != id);
        Ok(shelf.access.tokens.len() < before)
    }

    async fn tokens(&self) -> Result<Tokens, Fault> {
        let shelf = self.lock();
        Ok(Tokens { now: shelf.now, tokens: shelf.access.tokens.clone() })
    }

    async fn tokens_used(&self, ids: &[String]) -> Result<(), Fault> {
        let mut shelf = self.lock();
        let now = shelf.now;
        for token in &mut shelf.access.tokens {
            let is_new = token.last_used_at.is_none_or(|at| now.since_ms(at) >= USED_STEP_MS);
            if is_new && ids.contains(&token.id) {
                token.last_used_at = Some(now);
            }
        }
        Ok(())
    }

    async fn add_to_trail(&self, entries: &[TrailEntry]) -> Result<(), Fault> {
        let mut shelf = self.lock();
        entries.iter().for_each(|entry| shelf.add_to_trail(entry));
        Ok(())
    }

    async fn trail(&self, before: Option<u64>, limit: usize) -> Result<Vec<TrailRow>, Fault> {
        let shelf = self.lock();
        let below = shelf.access.trail.range(..before.unwrap_or(u64::MAX));
        Ok(below.rev().take(limit).map(|(_, row)| row.clone()).collect())
    }
}
