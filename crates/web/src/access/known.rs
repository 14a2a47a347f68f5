//! The tokens that are known, kept for a moment: not every request may cost a read of the store.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant};

use api::Problem;
use api::v1::Code;
use durable::{Access, TokenRow, Tokens};
use protocol::Fault;

/// After this long the store is read again: so long a revoked token may still work in another process.
const FRESH: Duration = Duration::from_secs(1);
/// While the store gives no answer, what was read last holds for so long.
const STALE: Duration = Duration::from_secs(60);
/// How often the store is told of a token's use.
const TOLD: Duration = Duration::from_secs(60);

#[derive(Clone)]
struct Read {
    at: Instant,
    tokens: Arc<Tokens>,
}

/// See the module.
pub(crate) struct Known {
    store: Arc<dyn Access>,
    last: RwLock<Option<Read>>,
    reading: tokio::sync::Mutex<()>,
    /// When a token's use was told to the store last.
    told: Mutex<HashMap<String, Instant>>,
}

/// The tokens as they are now.
#[derive(Clone)]
pub(crate) struct Now(Read);

impl Known {
    pub(crate) fn new(store: Arc<dyn Access>) -> Self {
        Self { store, last: RwLock::new(None), reading: tokio::sync::Mutex::new(()), told: Mutex::default() }
    }

    fn last(&self) -> Option<Read> {
        self.last.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The tokens, at most a moment old.
    pub(crate) async fn now(&self) -> Result<Now, Problem> {
        let within = |limit: Duration| move |read: &Read| read.at.elapsed() < limit;
        if let Some(read) = self.last().filter(within(FRESH)) {
            return Ok(Now(read));
        }
        let _one_at_a_time = self.reading.lock().await;
        if let Some(read) = self.last().filter(within(FRESH)) {
            return Ok(Now(read));
        }
        match self.read_again().await {
            Ok(read) => Ok(Now(read)),
            Err(fault) => match self.last().filter(within(STALE)) {
                Some(read) => Ok(Now(read)),
                None => {
                    tracing::warn!(%fault, "who may enter is not known");
                    Err(Problem::new(
                        Code::Unavailable,
                        "the durable store gives no answer, so no token can be checked",
                    ))
                }
            },
        }
    }

    /// Has the store write down that a token was used, once a minute.
    pub(crate) fn used(&self, id: &str) {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if told.get(id).is_some_and(|at| at.elapsed() < TOLD) {
            return;
        }
        // As many as there are tokens, and those that were.
        told.retain(|_, at| at.elapsed() < TOLD);
        told.insert(id.to_owned(), Instant::now());
        let (store, ids) = (Arc::clone(&self.store), [id.to_owned()]);
        tokio::spawn(async move {
            if let Err(fault) = store.tokens_used(&ids).await {
                tracing::debug!(%fault, "the use of a token was not written down");
            }
        });
    }

    /// Reads the store: after a token was made or revoked here.
    pub(crate) async fn refresh(&self) {
        if self.read_again().await.is_err() {
            // What was read before may be wrong now; nobody may rely on it.
            *self.last.write().unwrap_or_else(PoisonError::into_inner) = None;
        }
    }

    async fn read_again(&self) -> Result<Read, Fault> {
        // The store's moment is not later than this one.
        let at = Instant::now();
        let read = Read { at, tokens: Arc::new(self.store.tokens().await?) };
        *self.last.write().unwrap_or_else(PoisonError::into_inner) = Some(read.clone());
        Ok(read)
    }
}

impl Now {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.tokens.tokens.is_empty()
    }

    /// The token with this digest, unless it has expired. Compares with all of them, each in constant time.
    pub(crate) fn find(&self, digest: blake3::Hash) -> Option<&TokenRow> {
        let mut found = None;
        for token in &self.0.tokens.tokens {
            if blake3::Hash::from_bytes(token.digest) == digest {
                found = Some(token);
            }
        }
        found.filter(|token| self.is_good(token))
    }

    /// The token of this id, unless it has expired.
    pub(crate) fn of_id(&self, id: &str) -> Option<&TokenRow> {
        self.0.tokens.tokens.iter().find(|token| token.id == id).filter(|token| self.is_good(token))
    }

    fn is_good(&self, token: &TokenRow) -> bool {
        let passed = u64::try_from(self.0.at.elapsed().as_millis()).unwrap_or(u64::MAX);
        token.expires_at.is_none_or(|at| self.0.tokens.now.plus_ms(passed) < at)
    }
}
